//! The program for Tofino that copies updates between peers: p4c's output for it, and its rebuild.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use inart_wire::ValuesPerFrame;

use super::artifact::read;
use super::barefoot::{Barefoot, Source};
use super::p4test::P4test;
use super::{Chip, TofinoArtifact, Variant};
use crate::embedded::embedded;
use crate::folder::write;
use crate::{Error, manifest};

/// The program in the folder of its sources.
const SOURCE: Source = Source { folder: "tofino/multicast", name: "multicast" };
/// The list of hashes, relative to the P4 folder.
const MANIFEST: &str = "tofino/multicast/build/SOURCES.sha256";
/// The version of p4c that printed the artifacts, relative to the P4 folder.
const VERSION_FILE: &str = "tofino/multicast/build/P4C_VERSION";
/// Files of the other programs that it includes.
const SHARED: [&str; 3] = ["include/constants.p4", "include/reasons.p4", "include/updates.p4"];

/// Variants of the program. The number of values of an update's frame only decides its length.
pub const MULTICAST: [Variant; 2] = [
    Variant { chip: Chip::Tofino1, values: ValuesPerFrame::N256 },
    Variant { chip: Chip::Tofino2, values: ValuesPerFrame::N256 },
];

/// Returns the artifact built into this crate, if it has this variant. The first use decompresses it.
pub fn tofino_multicast_artifact(variant: Variant) -> Option<TofinoArtifact> {
    macro_rules! file {
        ($chip:literal, $kind:literal) => {
            concat!("../../tofino/multicast/build/multicast-", $chip, "-n256.", $kind)
        };
    }
    macro_rules! built_in {
        ($chip:literal) => {
            TofinoArtifact {
                variant,
                json: Cow::Borrowed(embedded!(file!($chip, "json.xz")).bytes()),
                bf_rt: Cow::Borrowed(embedded!(file!($chip, "bf-rt.json.xz")).bytes()),
                p4info: Cow::Borrowed(embedded!(file!($chip, "p4info.txtpb.xz")).text()),
                resources: Cow::Borrowed(include_bytes!(file!($chip, "resources.json"))),
            }
        };
    }
    Some(match (variant.chip, variant.values) {
        (Chip::Tofino1, ValuesPerFrame::N256) => built_in!("tofino1"),
        (Chip::Tofino2, ValuesPerFrame::N256) => built_in!("tofino2"),
        _ => return None,
    })
}

/// Loads the artifact in the P4 folder `dir`, which must be p4c's output for the sources there.
///
/// # Errors
/// Returns an error if a file cannot be read or is damaged, or the artifact does not match the sources.
pub fn load_tofino_multicast(dir: &Path, variant: Variant) -> Result<TofinoArtifact, Error> {
    let files = files(variant);
    manifest::check_of(dir, MANIFEST, sources(dir)?, &files)?;
    read(dir, variant, &files)
}

/// Prints the artifacts in the P4 folder `dir` again, and lists the hashes they belong to.
///
/// # Errors
/// If p4c refuses the program, prints something else than expected, or a file cannot be written.
pub fn build_tofino_multicast(dir: &Path, p4test: &P4test, barefoot: &Barefoot) -> Result<(), Error> {
    let mut artifacts = Vec::new();
    for variant in MULTICAST {
        let artifact = print_tofino_multicast(dir, variant, p4test, barefoot)?;
        let files = files(variant);
        let [json, bf_rt, p4info, resources] = &files;
        write(dir, json, &artifact.json)?;
        write(dir, bf_rt, &artifact.bf_rt)?;
        write(dir, p4info, artifact.p4info.as_bytes())?;
        write(dir, resources, &artifact.resources)?;
        artifacts.extend(files);
    }
    write(dir, VERSION_FILE, format!("{}\n", p4test.version()).as_bytes())?;
    manifest::write_list_of(dir, MANIFEST, sources(dir)?, &artifacts)
}

/// Compiles the sources in the P4 folder `dir` with p4c. Succeeds only if the program fits the chip.
///
/// # Errors
/// Returns an error if p4c rejects the program, or its output is not as expected.
pub fn print_tofino_multicast(
    dir: &Path,
    variant: Variant,
    p4test: &P4test,
    barefoot: &Barefoot,
) -> Result<TofinoArtifact, Error> {
    let printed = barefoot.compile_source(dir, &SOURCE, variant)?;
    Ok(TofinoArtifact {
        variant,
        json: p4test.compile_source(dir, &SOURCE, variant)?.into(),
        bf_rt: printed.bf_rt.into(),
        p4info: printed.p4info.into(),
        resources: printed.resources.into(),
    })
}

/// Returns the version of p4c that printed the artifacts in the P4 folder `dir`.
///
/// # Errors
/// If the file with the version cannot be read.
pub fn tofino_multicast_version(dir: &Path) -> Result<String, Error> {
    crate::version::noted(dir, VERSION_FILE)
}

fn files(variant: Variant) -> [String; 4] {
    ["json.xz", "bf-rt.json.xz", "p4info.txtpb.xz", "resources.json"]
        .map(|kind| format!("{}/build/{}-{variant}.{kind}", SOURCE.folder, SOURCE.name))
}

fn sources(dir: &Path) -> Result<BTreeMap<String, String>, Error> {
    let mut hashes = manifest::sources_in(dir, &[SOURCE.folder])?;
    for file in SHARED {
        hashes.insert(file.to_owned(), manifest::hash_file(dir, file)?);
    }
    Ok(hashes)
}
