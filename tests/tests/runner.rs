//! `tests/scripts/test.py` runs failed tests once more, alone. It runs here with a cargo that "builds" one
//! small program of libtest.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use inart_tests::workspace;
use serde_json::json;
use tempfile::TempDir;

/// Tests that pass only by their exact names; with settings, tests that never pass.
const PROGRAM: &str = r#"
fn is_alone() -> bool {
    use std::io::Write;
    let ran = concat!(env!("FOLDER"), "/ran");
    let mut ran = std::fs::OpenOptions::new().create(true).append(true).open(ran).unwrap();
    ran.write_all(format!("{}\n", std::thread::current().name().unwrap()).as_bytes()).unwrap();
    std::env::args().any(|word| word == "--exact")
}
#[test]
fn passes() {}
#[cfg(not(steady))]
#[test]
fn passes_alone() {
    assert!(is_alone(), "next to others");
}
/// Test whose name starts with that of the other one.
#[cfg(not(steady))]
#[test]
fn passes_alone_too() {
    assert!(is_alone(), "once more next to others");
}
#[cfg(broken)]
#[test]
fn never_passes() {
    is_alone();
    panic!("whatever runs next to it");
}
macro_rules! more {
    ($($name:ident)*) => {$(
        #[cfg(many)]
        #[test]
        fn $name() {
            is_alone();
            panic!();
        }
    )*};
}
more!(a b c d e f g h i);
"#;

/// Exit status of the runner.
struct Ran {
    status: Option<i32>,
    printed: String,
    /// Number of runs of each test that fails at first, by name and in order of names.
    runs: Vec<(String, usize)>,
}

/// Returns the compiler next to the cargo that built this test.
fn rustc() -> PathBuf {
    let beside = Path::new(env!("CARGO")).with_file_name("rustc");
    if beside.exists() { beside } else { "rustc".into() }
}

/// Runs the program, built with these settings, in a lane.
fn run(lane: &str, settings: &[&str]) -> Ran {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("fake.rs"), PROGRAM).unwrap();
    let mut compile = Command::new(rustc());
    compile.args(["--test", "--edition", "2024", "-A", "warnings", "fake.rs", "-o", "fake"]);
    compile.args(settings.iter().flat_map(|setting| ["--cfg", setting]));
    let compiled = compile.env("FOLDER", folder.path()).current_dir(folder.path()).output().unwrap();
    assert!(compiled.status.success(), "{compiled:?}");
    let package = json!({
        "name": "inart-fake", "id": "fake", "manifest_path": path("Cargo.toml"), "targets": [],
        "metadata": {"tests": {"lane": lane}},
    });
    let built = json!({
        "reason": "compiler-artifact", "executable": path("fake"), "profile": {"test": true}, "package_id": "fake",
        "target": {"name": "fake", "kind": ["test"]},
    });
    fs::write(path("metadata"), json!({ "packages": [package] }).to_string()).unwrap();
    fs::write(path("built"), built.to_string()).unwrap();
    let cargo = "#!/bin/sh\ncd \"$(dirname \"$0\")\"\ncase \"$*\" in\nmetadata*) cat metadata ;;\n*--no-run*) cat built ;;\nesac\n";
    fs::write(path("cargo"), cargo).unwrap();
    fs::set_permissions(path("cargo"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut runner = Command::new("python3");
    runner.arg(workspace().join("tests/scripts/test.py")).env("CARGO", path("cargo"));
    let output = runner.output().unwrap();
    let ran = fs::read_to_string(path("ran")).unwrap_or_default();
    let mut names: Vec<&str> = ran.lines().collect();
    names.sort_unstable();
    let runs = names.chunk_by(|one, next| one == next).map(|runs| (runs[0].to_owned(), runs.len())).collect();
    let printed = String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr);
    Ran { status: output.status.code(), printed, runs }
}

fn times(names: &[&str], count: usize) -> Vec<(String, usize)> {
    names.iter().map(|name| ((*name).to_owned(), count)).collect()
}

#[test]
fn a_test_that_passes_alone_is_flaky_and_does_not_fail_the_run() {
    for lane in ["real-time", "emulate", "alone"] {
        let ran = run(lane, &[]);
        assert_eq!(ran.status, Some(0), "{lane}: {}", ran.printed);
        for (name, reason) in
            [("passes_alone", "\nnext to others"), ("passes_alone_too", "once more next to others")]
        {
            let flaky = format!("\nflaky: fake fake {name}: failed next to others, passed alone\n");
            let (_, after) =
                ran.printed.split_once(&flaky).unwrap_or_else(|| panic!("{lane}: {}", ran.printed));
            let (output, _) = after.split_once("---- end of ").unwrap();
            assert!(
                output.contains(reason) && output.matches("panicked at").count() == 1,
                "{lane}: {output}"
            );
        }
        assert_eq!(ran.printed.lines().last(), Some("3 passed, 0 failed, 0 skipped, 2 flaky"), "{lane}");
        assert_eq!(ran.runs, times(&["passes_alone", "passes_alone_too"], 2), "{lane}");
    }
}

#[test]
fn a_test_that_fails_twice_fails_the_run() {
    let ran = run("emulate", &["broken"]);
    assert_eq!(ran.status, Some(1), "{}", ran.printed);
    assert!(ran.printed.contains("\nfailed twice: fake fake never_passes\n"), "{}", ran.printed);
    assert!(!ran.printed.contains("flaky: fake fake never_passes"), "{}", ran.printed);
    assert_eq!(ran.printed.lines().last(), Some("3 passed, 1 failed, 0 skipped, 2 flaky"));
    assert_eq!(ran.runs, times(&["never_passes", "passes_alone", "passes_alone_too"], 2));
}

/// Nothing that computes waits for others: a failure is a defect.
#[test]
fn a_test_that_computes_runs_once() {
    let ran = run("compute", &[]);
    assert_eq!(ran.status, Some(1), "{}", ran.printed);
    assert_eq!(ran.printed.lines().last(), Some("1 passed, 2 failed, 0 skipped, 0 flaky"));
    assert_eq!(ran.runs, times(&["passes_alone", "passes_alone_too"], 1));
}

#[test]
fn a_broken_tree_is_not_retried() {
    let ran = run("real-time", &["many"]);
    assert_eq!(ran.status, Some(1), "{}", ran.printed);
    assert!(ran.printed.contains("\n11 tests failed: none runs once more"), "{}", ran.printed);
    assert_eq!(ran.printed.lines().last(), Some("1 passed, 11 failed, 0 skipped, 0 flaky"));
    assert!(ran.runs.iter().all(|(_, count)| *count == 1) && ran.runs.len() == 11, "{:?}", ran.runs);
    // Ten are.
    let ran = run("real-time", &["many", "steady", "broken"]);
    assert_eq!(ran.printed.lines().last(), Some("1 passed, 10 failed, 0 skipped, 0 flaky"));
    assert!(ran.runs.iter().all(|(_, count)| *count == 2) && ran.runs.len() == 10, "{:?}", ran.runs);
}
