//! Cargo's targets of tests: at most two programs for each crate, every file in one of them, and no target
//! without tests that is built for tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::modules::{below, files};

/// Programs other than `CRATE` and `CRATE-root`: crate, program, and the reason.
const OF_THEIR_OWN: &[(&str, &str, &str)] = &[
    ("inart-cli", "peers_many", "its 67 processes need the whole machine"),
    ("inart-switch", "read_memory", "the test counts all allocations of its process"),
];

/// Cargo's data of a library, a command or a program of tests.
struct Target<'a> {
    name: &'a str,
    kind: &'a str,
    root: &'a Path,
    is_tested: bool,
    is_doc_tested: bool,
}

fn targets(package: &Value) -> impl Iterator<Item = Target<'_>> {
    package["targets"].as_array().unwrap().iter().map(|target| Target {
        name: target["name"].as_str().unwrap(),
        kind: target["kind"][0].as_str().unwrap(),
        root: Path::new(target["src_path"].as_str().unwrap()),
        is_tested: target["test"] == true,
        is_doc_tested: target["doctest"] == true,
    })
}

/// Returns the files below `tests/` that are in no program of tests, by a package's description.
pub fn untested(package: &Value) -> Vec<PathBuf> {
    let programs = targets(package).filter(|target| target.kind == "test");
    let run: BTreeSet<PathBuf> = programs.flat_map(|program| files(program.root)).collect();
    let all = below(&folder(package).join("tests"), "rs").into_iter();
    all.filter(|file| !run.contains(&file.canonicalize().unwrap())).collect()
}

/// Returns proptest's files of seeds that no test reads: proptest looks for those of `tests/x.rs` in
/// `proptest-regressions/x.txt`.
pub fn forgotten_seeds(package: &Value) -> Vec<PathBuf> {
    let folder = folder(package);
    let is_read = |seeds: &PathBuf| {
        let below = seeds.strip_prefix(folder.join("proptest-regressions"));
        below.is_ok_and(|name| {
            ["src", "tests"].iter().any(|top| folder.join(top).join(name).with_extension("rs").exists())
        })
    };
    let all = ["proptest-regressions", "src", "tests"].iter().flat_map(|top| below(&folder.join(top), "txt"));
    let seeds = all.filter(|file| file.iter().any(|part| part == "proptest-regressions"));
    seeds.filter(|file| !is_read(file)).collect()
}

pub(super) fn folder(package: &Value) -> PathBuf {
    Path::new(package["manifest_path"].as_str().unwrap()).with_file_name("")
}

/// Returns the test programs that are not named `CRATE` or `CRATE-root`, unless there is a reason.
pub fn surplus(package: &Value) -> Vec<String> {
    let package_name = package["name"].as_str().unwrap();
    let crate_name = package_name.trim_start_matches("inart-");
    let is_expected = |program: &Target<'_>| match program.name.strip_prefix(crate_name) {
        Some("") => program.root.ends_with("tests/main.rs"),
        Some("-root") => program.root.ends_with("tests/root.rs"),
        _ => OF_THEIR_OWN.iter().any(|(package, name, _)| (*package, *name) == (package_name, program.name)),
    };
    let programs = targets(package).filter(|target| target.kind == "test");
    let surplus = programs.filter(|program| !is_expected(program));
    surplus.map(|program| format!("{package_name}: {}", program.root.display())).collect()
}

/// Returns the libraries and commands whose `test` and `doctest` in Cargo.toml do not match their files.
pub fn mislabeled(package: &Value) -> Vec<String> {
    let is_built = |target: &Target<'_>| !["test", "bench", "example", "custom-build"].contains(&target.kind);
    let mut found = Vec::new();
    for target in targets(package).filter(is_built) {
        let texts: Vec<_> =
            files(target.root).iter().map(|file| fs::read_to_string(file).expect("a source file")).collect();
        let mut compare = |setting: &str, is_set: bool, has_one: bool| {
            if is_set != has_one {
                found.push(format!("{}: {setting} = {has_one}", target.root.display()));
            }
        };
        compare("test", target.is_tested, texts.iter().any(|text| has_unit_test(text)));
        if target.kind != "bin" {
            compare("doctest", target.is_doc_tested, texts.iter().any(|text| has_doc_test(text)));
        }
    }
    found
}

fn has_unit_test(text: &str) -> bool {
    let starts = ["#[test]", "#[tokio::test", "proptest! {"];
    text.lines().map(str::trim_start).any(|line| starts.iter().any(|start| line.starts_with(start)))
}

/// Returns whether rustdoc runs or compiles a block of a text's documentation.
fn has_doc_test(text: &str) -> bool {
    let (mut in_block, mut is_new) = (false, true);
    for line in text.lines().map(str::trim_start) {
        let Some(words) = line.strip_prefix("///").or(line.strip_prefix("//!")) else {
            (in_block, is_new) = (false, true);
            continue;
        };
        if let Some(language) = words.trim_start().strip_prefix("```") {
            if !in_block && is_rust(language) {
                return true;
            }
            in_block = !in_block;
        } else if !in_block && is_new && words.starts_with("     ") {
            // A paragraph that is indented by four spaces is code.
            return true;
        }
        is_new = words.trim().is_empty();
    }
    false
}

/// Returns whether a block of this kind is a doc test.
fn is_rust(language: &str) -> bool {
    const KINDS: [&str; 5] = ["rust", "no_run", "should_panic", "compile_fail", "test_harness"];
    let mut words = language.split([',', ' ']).filter(|word| !word.is_empty());
    words.all(|word| KINDS.contains(&word) || word.starts_with("edition"))
}

#[test]
fn blocks_that_rustdoc_compiles_are_found() {
    for (text, is_test) in [
        ("/// ```\n/// let x = 1;\n/// ```\n", true),
        ("//! ```no_run\n//! run();\n//! ```\n", true),
        ("    /// Words:\n    ///\n    ///     let x = 1;\n", true),
        ("/// ```text\n/// a picture\n/// ```\n", false),
        ("/// ```ignore\n/// let x = 1;\n/// ```\n", false),
        ("/// - an item\n///   and its second line\n", false),
        ("// ```\n// a comment\n// ```\nlet text = \"```\";\n", false),
    ] {
        assert_eq!(has_doc_test(text), is_test, "{text}");
    }
}
