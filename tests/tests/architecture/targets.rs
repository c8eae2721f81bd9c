//! Every file of tests is run: where a crate's tests are one program, cargo looks for no others.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::modules::{below, files};

/// What cargo says about a library, a command or a program of tests.
struct Target<'a> {
    kind: &'a str,
    root: &'a Path,
}

fn targets(package: &Value) -> impl Iterator<Item = Target<'_>> {
    package["targets"].as_array().unwrap().iter().map(|target| Target {
        kind: target["kind"][0].as_str().unwrap(),
        root: Path::new(target["src_path"].as_str().unwrap()),
    })
}

/// Returns the files below `tests/` that are in no program of tests, by a package's description.
pub fn untested(package: &Value) -> Vec<PathBuf> {
    let programs = targets(package).filter(|target| target.kind == "test");
    let run: BTreeSet<PathBuf> = programs.flat_map(|program| files(program.root)).collect();
    let all = below(&folder(package).join("tests"), "rs").into_iter();
    all.filter(|file| !run.contains(&file.canonicalize().unwrap())).collect()
}

fn folder(package: &Value) -> PathBuf {
    Path::new(package["manifest_path"].as_str().unwrap()).with_file_name("")
}
