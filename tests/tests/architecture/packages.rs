//! Third-party packages: their licenses, their sources, and duplicate versions.
//!
//! A test over `cargo metadata` rather than cargo-deny, which CI would have to compile first; it leaves out
//! the database of advisories, which is not offline.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

use super::root;

/// Licenses under which a package may be used here, together with a license of ours.
const LICENSES: &[&str] = &[
    "MIT",
    "Apache-2.0",
    // The exception only allows more.
    "Apache-2.0+LLVM-exception",
    "ISC",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "Zlib",
    "Unicode-3.0",
    "BSL-1.0",
    // Only the test that builds the book uses these: mdBook, and the icons in it.
    "MPL-2.0",
    "CC-BY-4.0",
];

/// Packages of which there are several versions, since packages that need them disagree. Only ever shorter.
const TWICE: &[&str] = &[
    "base64",
    "bit-vec",
    "embedded-io",
    "getrandom",
    "hashbrown",
    "itertools",
    "nom",
    "rand",
    "rand_core",
    "rusticata-macros",
    "shlex",
    "syn",
    "unicode-width",
];

/// Returns the packages that are built on Linux, with any features of ours: those for other systems need not
/// be downloaded. Cargo downloads packages here that no build has needed so far, such as those of the feature
/// `xdp`.
fn packages() -> Vec<Value> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--locked", "--all-features", "--format-version", "1"]);
    cargo.args(["--filter-platform", "x86_64-unknown-linux-gnu"]).current_dir(root());
    let output = cargo.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    match metadata["packages"].take() {
        Value::Array(packages) => packages,
        other => panic!("cargo metadata lists no packages: {other}"),
    }
}

/// Returns whether an SPDX expression of `AND`, `OR` and brackets can be met with [`LICENSES`]. A slash is an
/// old `OR`.
fn is_allowed(expression: &str) -> bool {
    let expression =
        expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ").replace(" WITH ", "+");
    let words: Vec<&str> = expression.split_whitespace().collect();
    any(&mut words.as_slice())
}

fn any(words: &mut &[&str]) -> bool {
    let mut allowed = all(words);
    while let ["OR", rest @ ..] = words {
        *words = rest;
        allowed |= all(words);
    }
    allowed
}

fn all(words: &mut &[&str]) -> bool {
    let mut allowed = one(words);
    while let ["AND", rest @ ..] = words {
        *words = rest;
        allowed &= one(words);
    }
    allowed
}

fn one(words: &mut &[&str]) -> bool {
    match words {
        ["(", rest @ ..] => {
            *words = rest;
            let allowed = any(words);
            *words = &words[1..]; // the closing bracket
            allowed
        }
        [license, rest @ ..] => {
            *words = rest;
            LICENSES.contains(license)
        }
        [] => false,
    }
}

#[test]
fn every_package_has_a_license_that_may_be_used_here() {
    for package in packages() {
        let license = package["license"].as_str().unwrap_or("none");
        assert!(is_allowed(license), "{} {}: license {license}", package["name"], package["version"]);
    }
}

#[test]
fn expressions_of_licenses_are_understood() {
    for allowed in [
        "MIT",
        "GPL-3.0 OR MIT",
        "Unlicense/MIT",
        "(MIT OR GPL-3.0) AND Unicode-3.0",
        "Apache-2.0 AND ISC",
        "Apache-2.0 WITH LLVM-exception",
    ] {
        assert!(is_allowed(allowed), "{allowed}");
    }
    for refused in [
        "GPL-3.0",
        "MIT AND GPL-3.0",
        "(MIT OR Zlib) AND GPL-3.0",
        "GPL-2.0 WITH Classpath-exception-2.0",
        "none",
        "",
    ] {
        assert!(!is_allowed(refused), "{refused}");
    }
}

#[test]
fn packages_are_from_the_registry_or_from_the_tree() {
    for package in packages() {
        let source = package["source"].as_str();
        let known = source.is_none_or(|source| source.starts_with("registry+"));
        assert!(known, "{} comes from {source:?}", package["name"]);
    }
}

#[test]
fn no_more_packages_than_known_are_there_in_several_versions() {
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in packages() {
        let [name, version] = ["name", "version"].map(|field| package[field].as_str().unwrap().to_owned());
        versions.entry(name).or_default().insert(version);
    }
    versions.retain(|_, versions| versions.len() > 1);
    let found: BTreeSet<&str> = versions.keys().map(String::as_str).collect();
    let known = TWICE.iter().copied().collect();
    let new: Vec<_> = found.difference(&known).map(|name| (name, &versions[*name])).collect();
    assert!(new.is_empty(), "in several versions: {new:?}; use the existing version, or state the reason");
    let gone: Vec<_> = known.difference(&found).collect();
    assert!(gone.is_empty(), "in one version now, remove them from the list: {gone:?}");
}
