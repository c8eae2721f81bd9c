use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use inart_wire::ValuesPerFrame;

use super::{Chip, Variant};
use crate::embedded::embedded;
use crate::{Error, folder, manifest};

/// The list of hashes, relative to the P4 folder.
pub(super) const MANIFEST: &str = "tofino/build/SOURCES.sha256";

const SOURCE_FOLDERS: [&str; 3] = ["tofino", "tofino/include", "tofino/generated"];
/// Files that both programs include.
const SHARED: [&str; 2] = ["include/constants.p4", "include/reasons.p4"];

/// Output of p4c for one variant of the program for Tofino.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TofinoArtifact {
    /// Variant.
    pub variant: Variant,
    /// The program after the mid end, as the embedded switch runs it: p4c's intermediate form in JSON.
    pub json: Cow<'static, [u8]>,
    /// Tables as BFRuntime names them, by the back end: `bf-rt.json`.
    pub bf_rt: Cow<'static, [u8]>,
    /// P4Info, by the back end, as protobuf text.
    pub p4info: Cow<'static, str>,
    /// Resources of the chip, as the back end reports them: see [`super::Resources`].
    pub resources: Cow<'static, [u8]>,
}

/// Returns the artifact built into this crate, if it has this variant. The first use decompresses it.
pub fn tofino_artifact(variant: Variant) -> Option<TofinoArtifact> {
    macro_rules! file {
        ($name:literal, $kind:literal) => {
            concat!("../../tofino/build/inart-", $name, ".", $kind)
        };
    }
    macro_rules! built_in {
        ($name:literal) => {
            TofinoArtifact {
                variant,
                json: Cow::Borrowed(embedded!(file!($name, "json.xz")).bytes()),
                bf_rt: Cow::Borrowed(embedded!(file!($name, "bf-rt.json.xz")).bytes()),
                p4info: Cow::Borrowed(embedded!(file!($name, "p4info.txtpb.xz")).text()),
                resources: Cow::Borrowed(include_bytes!(file!($name, "resources.json"))),
            }
        };
    }
    Some(match (variant.chip, variant.values) {
        (Chip::Tofino1, ValuesPerFrame::N32) => built_in!("tofino1-n32"),
        (Chip::Tofino1, ValuesPerFrame::N64) => built_in!("tofino1-n64"),
        (Chip::Tofino2, ValuesPerFrame::N64) => built_in!("tofino2-n64"),
        _ => return None,
    })
}

/// Loads the artifact in the P4 folder `dir`, which must be p4c's output for the sources there.
///
/// # Errors
/// Returns an error if a file cannot be read or is damaged, or the artifact does not match the sources.
pub fn load_tofino_dir(dir: &Path, variant: Variant) -> Result<TofinoArtifact, Error> {
    let files = files(variant);
    manifest::check_of(dir, MANIFEST, sources(dir)?, &files)?;
    read(dir, variant, &files)
}

/// Reads p4c's output for a variant: intermediate form, `bf-rt.json`, P4Info and resources, relative to the
/// P4 folder `dir`.
pub(super) fn read(dir: &Path, variant: Variant, files: &[String; 4]) -> Result<TofinoArtifact, Error> {
    let [json, bf_rt, p4info, resources] = files;
    Ok(TofinoArtifact {
        variant,
        json: folder::read(dir, json)?.into(),
        bf_rt: folder::read(dir, bf_rt)?.into(),
        p4info: folder::read_text(dir, p4info)?.into(),
        resources: folder::read(dir, resources)?.into(),
    })
}

/// Intermediate form, `bf-rt.json`, P4Info (these compressed) and resources of a variant, relative to the P4
/// folder.
pub(super) fn files(variant: Variant) -> [String; 4] {
    ["json.xz", "bf-rt.json.xz", "p4info.txtpb.xz", "resources.json"]
        .map(|kind| format!("tofino/build/inart-{variant}.{kind}"))
}

/// Returns every source of the program for Tofino under the P4 folder `dir`, with its SHA-256.
pub(super) fn sources(dir: &Path) -> Result<BTreeMap<String, String>, Error> {
    let mut hashes = manifest::sources_in(dir, &SOURCE_FOLDERS)?;
    for file in SHARED {
        hashes.insert(file.to_owned(), manifest::hash_file(dir, file)?);
    }
    Ok(hashes)
}
