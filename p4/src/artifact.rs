use std::borrow::Cow;
use std::path::Path;

use inart_wire::ValuesPerFrame;

use crate::embedded::embedded;
use crate::folder::{read, read_text};
use crate::{Error, manifest};

/// Output of p4c for one number of values per frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// Values per frame.
    pub values: ValuesPerFrame,
    /// The program for bmv2 and the embedded switch: bmv2 JSON.
    pub json: Cow<'static, [u8]>,
    /// P4Info, as protobuf text.
    pub p4info: Cow<'static, str>,
}

/// Returns the artifact built into this crate. Its first use decompresses it.
pub fn artifact(values: ValuesPerFrame) -> Artifact {
    macro_rules! built_in {
        ($n:literal) => {
            Artifact {
                values,
                json: Cow::Borrowed(embedded!(concat!("../build/inart-n", $n, ".json.xz")).bytes()),
                p4info: Cow::Borrowed(embedded!(concat!("../build/inart-n", $n, ".p4info.txtpb.xz")).text()),
            }
        };
    }
    match values {
        ValuesPerFrame::N32 => built_in!(32),
        ValuesPerFrame::N64 => built_in!(64),
        ValuesPerFrame::N256 => built_in!(256),
        ValuesPerFrame::N1024 => built_in!(1024),
        ValuesPerFrame::N2048 => built_in!(2048),
    }
}

/// Loads the artifact in the P4 folder `dir` (that of `inart.p4`), which must be p4c's output for the sources
/// there.
///
/// # Errors
/// Returns an error if a file cannot be read or is damaged, or the artifacts do not match the sources.
pub fn load_dir(dir: &Path, values: ValuesPerFrame) -> Result<Artifact, Error> {
    let [json, p4info] = files(values);
    manifest::check(dir, manifest::MANIFEST, &[json.clone(), p4info.clone()])?;
    Ok(Artifact { values, json: read(dir, &json)?.into(), p4info: read_text(dir, &p4info)?.into() })
}

/// Bmv2 JSON and P4Info, both compressed, relative to the P4 folder.
pub(crate) fn files(values: ValuesPerFrame) -> [String; 2] {
    ["json", "p4info.txtpb"].map(|kind| format!("build/inart-n{values}.{kind}.xz"))
}
