//! Folder with the output of p4c.

use std::path::{Path, PathBuf};

use inart_p4::{Chip, Variant, decompress};

use super::program::{Compiled, Image};
use crate::error::ProgramError;

/// Loads the program from the P4 folder (that of `inart.p4`).
pub fn load(variant: Variant, folder: &Path) -> Result<Compiled, ProgramError> {
    let build = folder.join("tofino/build");
    let stem = build.join(format!("inart-{variant}"));
    Compiled::new(variant.values, &info(variant, &stem)?, image(variant.chip, &stem)?)
}

/// Reads the `bf-rt.json` of a variant: from p4c's folder for the chip, else the compressed file next to
/// the program for the embedded switch.
fn info(variant: Variant, stem: &Path) -> Result<Vec<u8>, ProgramError> {
    let (of_chip, compressed) = (stem.join("bf-rt.json"), with(stem, "bf-rt.json.xz"));
    if of_chip.exists() {
        read(&of_chip)
    } else if compressed.exists() {
        read_compressed(&compressed)
    } else {
        Err(ProgramError::Folder(format!(
            "{} has no program for {} values per frame (inart-{variant}.bf-rt.json.xz): compile it",
            stem.parent().unwrap_or(stem).display(),
            variant.values
        )))
    }
}

/// Reads p4c's output for the chip, if it exists, else for the embedded switch.
fn image(chip: Chip, variant: &Path) -> Result<Image, ProgramError> {
    let pipe = variant.join("pipe");
    let binary = pipe.join(match chip {
        Chip::Tofino1 => "tofino.bin",
        Chip::Tofino2 => "tofino2.bin",
    });
    if binary.exists() {
        return Ok(Image { binary: read(&binary)?, context: read(&pipe.join("context.json"))? });
    }
    Ok(Image { binary: read_compressed(&with(variant, "json.xz"))?, context: Vec::new() })
}

/// Returns the path of a file next to a variant's folder, whose name has dots of its own.
fn with(variant: &Path, extension: &str) -> PathBuf {
    PathBuf::from(format!("{}.{extension}", variant.display()))
}

fn read(path: &Path) -> Result<Vec<u8>, ProgramError> {
    std::fs::read(path)
        .map_err(|error| ProgramError::Folder(format!("{}: {error}; compile the program", path.display())))
}

/// Reads a file that `cargo run -p inart-p4` wrote.
fn read_compressed(path: &Path) -> Result<Vec<u8>, ProgramError> {
    decompress(&read(path)?)
        .map_err(|error| ProgramError::Folder(format!("{}: {error}; compile the program", path.display())))
}

#[cfg(test)]
mod tests {
    use inart_p4::{compress, tofino_artifact};

    use super::*;

    /// The chip's image comes first, then the one for the embedded switch.
    #[test]
    fn the_image_is_that_of_the_chip() -> Result<(), Box<dyn std::error::Error>> {
        for (variant, binary) in Variant::ALL.into_iter().zip(["tofino.bin", "tofino.bin", "tofino2.bin"]) {
            let folder = tempfile::TempDir::new()?;
            let build = folder.path().join("tofino/build");
            let pipe = build.join(format!("inart-{variant}/pipe"));
            std::fs::create_dir_all(&pipe)?;
            let built = tofino_artifact(variant).ok_or("it is built in")?;
            std::fs::write(build.join(format!("inart-{variant}.bf-rt.json.xz")), compress(&built.bf_rt)?)?;
            std::fs::write(build.join(format!("inart-{variant}.json.xz")), compress(b"the form")?)?;
            let image = |of: &Path| Ok::<_, ProgramError>(image(variant.chip, of)?.binary);
            let stem = build.join(format!("inart-{variant}"));
            assert_eq!(image(&stem)?, b"the form", "{variant}");
            let form = build.join(format!("inart-{variant}.json.xz"));
            std::fs::write(&form, b"{}")?;
            let message = image(&stem).expect_err("it is not compressed").to_string();
            assert!(message.contains(&format!("inart-{variant}.json.xz: not a whole xz file")), "{message}");
            assert!(message.ends_with("; compile the program"), "{message}");
            std::fs::write(pipe.join(binary), b"the chip's")?;
            assert!(
                load(variant, folder.path()).is_err_and(|error| error.to_string().contains("context.json"))
            );
            std::fs::write(pipe.join("context.json"), b"{}")?;
            assert_eq!(image(&stem)?, b"the chip's", "{variant}");
            load(variant, folder.path())?;
        }
        Ok(())
    }
}
