//! Every file of tests is run: where a crate's tests are one program, cargo looks for no others.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Files and folders of `tests/` that are a program's own, by a package's description.
pub fn untested(package: &Value) -> Vec<PathBuf> {
    let folder = Path::new(package["manifest_path"].as_str().unwrap()).with_file_name("tests");
    let programs: BTreeSet<PathBuf> = package["targets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|target| target["src_path"].as_str().unwrap().into())
        .collect();
    let main = folder.join("main.rs");
    let modules = if programs.contains(&main) { fs::read_to_string(main).unwrap() } else { String::new() };
    let modules: BTreeSet<&str> = modules.lines().collect();
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let files = entries.filter_map(|path| match path.is_dir() {
        true => Some(path.join("main.rs")).filter(|main| main.exists()),
        false => Some(path).filter(|path| path.extension().is_some_and(|end| end == "rs")),
    });
    let is_module = |path: &Path| {
        path.file_stem()
            .is_some_and(|stem| modules.contains(format!("mod {};", stem.to_str().unwrap()).as_str()))
    };
    files.filter(|path| !programs.contains(path) && !is_module(path)).collect()
}
