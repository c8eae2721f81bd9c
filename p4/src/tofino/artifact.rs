use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use inart_wire::ValuesPerPacket;

use super::{Chip, Variant};
use crate::{Error, manifest};

/// The list of hashes, relative to the P4 folder.
pub(super) const MANIFEST: &str = "tofino/build/SOURCES.sha256";

const SOURCE_FOLDERS: [&str; 3] = ["tofino", "tofino/include", "tofino/generated"];
/// What both programs include.
const SHARED: [&str; 2] = ["include/constants.p4", "include/reasons.p4"];

/// What p4c printed for one variant of the program for Tofino.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TofinoArtifact {
    /// What it was compiled for.
    pub variant: Variant,
    /// The program after the mid end, as the embedded switch runs it: p4c's intermediate form in JSON.
    pub json: Cow<'static, [u8]>,
}

/// The artifact built into this crate; none if there is none for this variant.
pub fn tofino_artifact(variant: Variant) -> Option<TofinoArtifact> {
    let json: &'static [u8] = match (variant.chip, variant.values) {
        (Chip::Tofino1, ValuesPerPacket::N32) => {
            include_bytes!("../../tofino/build/inart-tofino1-n32.json")
        }
        (Chip::Tofino2, ValuesPerPacket::N64) => {
            include_bytes!("../../tofino/build/inart-tofino2-n64.json")
        }
        _ => return None,
    };
    Some(TofinoArtifact { variant, json: Cow::Borrowed(json) })
}

/// The artifact in the P4 folder `dir`, which must be what p4c printed for the sources there.
///
/// # Errors
/// If a file cannot be read, or the artifact is not that of the sources.
pub fn load_tofino_dir(dir: &Path, variant: Variant) -> Result<TofinoArtifact, Error> {
    let file = variant.file();
    manifest::check_of(dir, MANIFEST, sources(dir)?, std::slice::from_ref(&file))?;
    let path = dir.join(file);
    let json = std::fs::read(&path).map_err(Error::file(&path))?;
    Ok(TofinoArtifact { variant, json: json.into() })
}

/// Every source of the program for Tofino under the P4 folder `dir`, with its SHA-256.
pub(super) fn sources(dir: &Path) -> Result<BTreeMap<String, String>, Error> {
    let mut hashes = manifest::sources_in(dir, &SOURCE_FOLDERS)?;
    for file in SHARED {
        hashes.insert(file.to_owned(), manifest::hash_file(dir, file)?);
    }
    Ok(hashes)
}
