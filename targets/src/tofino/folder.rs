//! A folder with what p4c printed.

use std::path::{Path, PathBuf};

use inart_wire::ValuesPerPacket;

use super::program::{Compiled, Image};
use crate::error::ProgramError;

/// Generations of the chip, the first that a program was compiled for first.
const CHIPS: [&str; 2] = ["tofino1", "tofino2"];

/// The program in the P4 folder (that of `inart.p4`).
pub fn load(values: ValuesPerPacket, folder: Option<&Path>) -> Result<Compiled, ProgramError> {
    let Some(folder) = folder else {
        return Err(ProgramError::Folder(format!(
            "no program for {values} values per packet on Tofino is built in: give the folder of one"
        )));
    };
    let build = folder.join("tofino/build");
    let variant = |chip: &&str| build.join(format!("inart-{chip}-n{values}"));
    let variants: Vec<PathBuf> = CHIPS.iter().map(variant).collect();
    let there = |variant: &&PathBuf| info(variant).is_some();
    let variant = variants.iter().find(there).ok_or_else(|| {
        let folder = build.display();
        ProgramError::Folder(format!(
            "{folder} has no program for {values} values per packet (inart-{}-n{values}.bf-rt.json): compile it",
            CHIPS[0]
        ))
    })?;
    let info = info(variant).unwrap_or_default();
    Compiled::new(values, &read(&info)?, image(variant)?)
}

/// The `bf-rt.json` of a variant: in the folder that p4c made for the chip, else beside the program for the
/// embedded switch.
fn info(variant: &Path) -> Option<PathBuf> {
    [variant.join("bf-rt.json"), with(variant, "bf-rt.json")].into_iter().find(|path| path.exists())
}

/// What p4c printed for the chip, if that is there, else for the embedded switch.
fn image(variant: &Path) -> Result<Image, ProgramError> {
    let pipe = variant.join("pipe");
    let binary = pipe.join("tofino.bin");
    if binary.exists() {
        return Ok(Image { binary: read(&binary)?, context: read(&pipe.join("context.json"))? });
    }
    Ok(Image { binary: read(&with(variant, "json"))?, context: Vec::new() })
}

/// A file beside a variant's folder; its name has dots of its own.
fn with(variant: &Path, extension: &str) -> PathBuf {
    PathBuf::from(format!("{}.{extension}", variant.display()))
}

fn read(path: &Path) -> Result<Vec<u8>, ProgramError> {
    std::fs::read(path)
        .map_err(|error| ProgramError::Folder(format!("{}: {error}; compile the program", path.display())))
}
