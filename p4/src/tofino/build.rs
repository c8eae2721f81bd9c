//! Printing again what is committed of the program for Tofino.

use std::path::Path;

use super::p4test::{P4test, VERSION_FILE};
use super::{Barefoot, Variant, artifact};
use crate::{Error, manifest};

/// Prints all variants of the P4 folder `dir` again, and lists the hashes they belong to.
///
/// # Errors
/// If p4c refuses the program, prints something else than expected, or a file cannot be written.
pub fn build_tofino(dir: &Path, p4test: &P4test, barefoot: &Barefoot) -> Result<(), Error> {
    let write = |file: &str, contents: &[u8]| {
        let path = dir.join(file);
        std::fs::write(&path, contents).map_err(Error::file(&path))
    };
    let mut artifacts = Vec::new();
    for variant in Variant::ALL {
        let printed = barefoot.compile(dir, variant)?;
        let files = artifact::files(variant);
        let [json, bf_rt, p4info, resources] = &files;
        write(json, &p4test.compile(dir, variant)?)?;
        write(bf_rt, &printed.bf_rt)?;
        write(p4info, printed.p4info.as_bytes())?;
        write(resources, &printed.resources)?;
        artifacts.extend(files);
    }
    write(VERSION_FILE, format!("{}\n", p4test.version()).as_bytes())?;
    manifest::write_list_of(dir, artifact::MANIFEST, artifact::sources(dir)?, &artifacts)
}
