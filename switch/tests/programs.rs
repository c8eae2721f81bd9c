//! Our own v1model programs with their packets (`programs/v1model/README.md`).

use std::path::Path;
use std::process::Command;

use inart_switch::conformance::run_directory;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/v1model");

#[test]
fn their_packets_leave_as_written() {
    let report = run_directory(Path::new(FOLDER)).expect("the folder can be read");
    assert_eq!(report.failed, []);
    assert!(report.total >= 3);
}

#[test]
fn artifacts_are_of_these_sources() {
    let check = Command::new("sha256sum")
        .args(["--check", "--quiet", "SHA256SUMS"])
        .current_dir(FOLDER)
        .output()
        .expect("sha256sum runs");
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stdout));
}

#[test]
fn p4c_prints_the_artifacts_again() {
    let used = include_str!("../../p4/build/P4C_VERSION").trim();
    let Ok(version) = Command::new("p4c-bm2-ss").arg("--version").output() else {
        eprintln!("skipped: p4c-bm2-ss is not on the PATH");
        return;
    };
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    if !version.contains(used) {
        eprintln!("skipped: p4c-bm2-ss is {version:?}, the artifacts are by {used}");
        return;
    }
    let out = tempfile::tempdir().expect("a folder");
    let mut compiled = 0;
    for file in std::fs::read_dir(FOLDER).expect("the folder can be read") {
        let source = file.expect("an entry").path();
        if source.extension().is_none_or(|ending| ending != "p4") {
            continue;
        }
        let name = source.file_stem().expect("a name").to_string_lossy().into_owned();
        let (json, info) = (format!("{name}.json"), format!("{name}.p4info.txtpb"));
        let done = Command::new("p4c-bm2-ss")
            .args([format!("{name}.p4").as_ref(), "-o".as_ref(), out.path().join(&json).as_os_str()])
            .arg("--p4runtime-files")
            .arg(out.path().join(&info))
            .current_dir(FOLDER)
            .output()
            .expect("p4c runs");
        assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
        for file in [json, info] {
            let read =
                |folder: &Path| std::fs::read_to_string(folder.join(&file)).expect("the file is there");
            assert!(read(out.path()) == read(Path::new(FOLDER)), "{file} differs: compile it again");
        }
        compiled += 1;
    }
    assert!(compiled >= 3);
}
