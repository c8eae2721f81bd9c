//! `ARCHITECTURE.md` says what is so, no files of a crate import each other in a circle, and cargo builds and
//! runs the tests that there are.

mod circles;
mod document;
mod modules;
mod packages;
mod source;
mod targets;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use circles::Crate;
use document::{Row, picture, table};
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("INART_ROOT")).to_owned()
}

/// What cargo says about the members of the workspace.
fn packages() -> Vec<Value> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]).current_dir(root());
    let output = cargo.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

/// The members of the workspace, and the members that each depends on.
fn members() -> BTreeMap<String, BTreeSet<String>> {
    packages()
        .iter()
        .map(|package| {
            let name =
                |value: &Value| value["name"].as_str().unwrap().strip_prefix("inart-").map(str::to_owned);
            let needed = package["dependencies"].as_array().unwrap().iter();
            // Only tests need those of another kind, or the build does.
            let normal = needed.filter(|dependency| dependency["kind"].is_null());
            (name(package).expect("members are called inart-…"), normal.filter_map(name).collect())
        })
        .collect()
}

fn document() -> String {
    std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap()
}

#[test]
fn the_table_has_every_member_with_its_dependencies() {
    let rows = table(&document());
    let said: BTreeMap<_, _> = rows.into_iter().map(|row| (row.name, row.depends_on)).collect();
    for (member, needed) in &members() {
        let said =
            said.get(member).unwrap_or_else(|| panic!("ARCHITECTURE.md has no row for the crate {member}"));
        assert_eq!(
            said, needed,
            "ARCHITECTURE.md, row {member}, column \"depends on\" (cargo metadata: right)"
        );
    }
    assert_eq!(said.len(), members().len(), "ARCHITECTURE.md has rows for crates that are not there");
}

#[test]
fn dependencies_go_from_a_higher_level_to_a_lower_one() {
    let rows = table(&document());
    let levels: BTreeMap<_, _> = rows.iter().map(|row| (row.name.as_str(), row.level)).collect();
    for Row { name, level, depends_on } in &rows {
        for needed in depends_on {
            let below = levels[needed.as_str()];
            assert!(below < *level, "{name} (level {level}) depends on {needed} (level {below})");
        }
    }
}

#[test]
fn the_picture_has_every_crate_on_its_level() {
    let document = document();
    let told: BTreeSet<_> = table(&document).into_iter().map(|row| (row.level, row.name)).collect();
    assert_eq!(picture(&document), told);
}

#[test]
fn no_files_import_each_other() {
    // The examples have no src: each is a file of its own.
    let packages = packages();
    let sources = packages.iter().map(|package| (targets::folder(package).join("src"), &package["name"]));
    let crates: Vec<_> = sources
        .filter(|(folder, name)| folder.is_dir() || *name != "inart-examples")
        .map(|(folder, name)| (Crate::read(&folder), name.to_string()))
        .collect();
    let circles_of = |(files, name): &(Crate, String)| {
        files.circles().into_iter().map(|circle| (name.clone(), circle)).collect::<Vec<_>>()
    };
    let found: Vec<_> = crates.iter().flat_map(circles_of).collect();
    let pairs: Vec<_> = crates.iter().flat_map(|(files, _)| files.pairs()).collect();
    assert!(found.is_empty(), "files that import each other: {found:#?}; of all, directly: {pairs:#?}");
}

#[test]
fn every_file_of_tests_is_run() {
    let untested: Vec<_> = packages().iter().flat_map(targets::untested).collect();
    assert!(
        untested.is_empty(),
        "no program of tests has {untested:?}: name each in tests/main.rs or tests/root.rs of its crate"
    );
}

#[test]
fn every_file_of_seeds_is_read() {
    let forgotten: Vec<_> = packages().iter().flat_map(targets::forgotten_seeds).collect();
    assert!(
        forgotten.is_empty(),
        "proptest does not find {forgotten:?}; move them beside their tests' names"
    );
}

#[test]
fn a_crate_has_at_most_two_programs_of_tests() {
    let surplus: Vec<_> = packages().iter().flat_map(targets::surplus).collect();
    assert!(
        surplus.is_empty(),
        "set autotests = false; tests belong to the program CRATE (tests/main.rs), or CRATE-root (tests/root.rs) where they need root; \
         a program of its own needs a reason in tests/tests/architecture/targets.rs: {surplus:#?}"
    );
}

#[test]
fn cargo_tests_the_libraries_and_commands_that_have_tests_and_no_others() {
    let mislabeled: Vec<_> = packages().iter().flat_map(targets::mislabeled).collect();
    assert!(mislabeled.is_empty(), "in Cargo.toml, by [lib] or [[bin]]: {mislabeled:#?}");
}
