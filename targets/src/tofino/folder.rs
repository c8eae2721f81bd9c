//! A folder with what p4c printed.

use std::path::Path;

use inart_wire::ValuesPerPacket;

use super::program::{Compiled, Image};
use crate::error::ProgramError;

/// The program in the P4 folder (that of `inart.p4`): for the chip, if p4c printed `tofino.bin` there, else
/// for the embedded switch.
pub fn load(values: ValuesPerPacket, folder: Option<&Path>) -> Result<Compiled, ProgramError> {
    let Some(folder) = folder else {
        return Err(ProgramError::Folder(format!(
            "no program for {values} values per packet on Tofino is built in: give the folder of one"
        )));
    };
    let build = folder.join(format!("tofino/build/n{values}"));
    let read = |name: &str| {
        let path = build.join(name);
        std::fs::read(&path).map_err(|error| {
            ProgramError::Folder(format!("{}: {error}; compile the program for Tofino first", path.display()))
        })
    };
    let image = if build.join("pipe/tofino.bin").exists() {
        Image { binary: read("pipe/tofino.bin")?, context: read("pipe/context.json")? }
    } else {
        Image { binary: read("program.json")?, context: Vec::new() }
    };
    Compiled::new(values, &read("bf-rt.json")?, image)
}
