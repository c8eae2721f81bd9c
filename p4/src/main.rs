//! Prints the generated P4 and compiles the program: `cargo run -p inart-p4` from anywhere in the workspace.

use std::path::Path;
use std::process::ExitCode;

use inart_p4::{Error, P4c, generated_path, values_p4};
use inart_wire::ValuesPerPacket;

fn main() -> ExitCode {
    match run(Path::new(env!("CARGO_MANIFEST_DIR"))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(dir: &Path) -> Result<(), Error> {
    for values in ValuesPerPacket::ALL {
        let path = dir.join(generated_path(values));
        std::fs::write(&path, values_p4(values)).map_err(|source| Error::File { path, source })?;
    }
    match P4c::find() {
        Some(p4c) => {
            p4c.build(dir)?;
            eprintln!("generated/ and build/ are up to date, by p4c-bm2-ss {}", p4c.version());
        }
        None => eprintln!("generated/ is up to date; build/ is not: p4c-bm2-ss is not on the PATH"),
    }
    Ok(())
}
