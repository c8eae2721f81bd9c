//! Rebuild of the committed artifacts of the program for Tofino.

use std::path::Path;

use super::p4test::{P4test, VERSION_FILE};
use super::{Barefoot, Variant, artifact};
use crate::folder::write;
use crate::{Error, manifest};

/// Prints all variants of the P4 folder `dir` again, and lists the hashes they belong to.
///
/// # Errors
/// If p4c refuses the program, prints something else than expected, or a file cannot be written.
pub fn build_tofino(dir: &Path, p4test: &P4test, barefoot: &Barefoot) -> Result<(), Error> {
    let mut artifacts = Vec::new();
    for variant in Variant::ALL {
        let printed = barefoot.compile(dir, variant)?;
        let files = artifact::files(variant);
        let [json, bf_rt, p4info, resources] = &files;
        write(dir, json, &p4test.compile(dir, variant)?)?;
        write(dir, bf_rt, &printed.bf_rt)?;
        write(dir, p4info, printed.p4info.as_bytes())?;
        write(dir, resources, &printed.resources)?;
        artifacts.extend(files);
    }
    write(dir, VERSION_FILE, format!("{}\n", p4test.version()).as_bytes())?;
    manifest::write_list_of(dir, artifact::MANIFEST, artifact::sources(dir)?, &artifacts)
}
