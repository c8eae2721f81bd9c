//! Our `.proto` files match the P4Runtime community's descriptors.

use std::path::Path;
use std::process::Command;

/// Facts (messages, fields, enum values, methods) in P4Runtime 1.4; far fewer would mean that nothing was
/// compared.
const LEAST_FACTS: usize = 600;

#[test]
fn the_protos_agree_with_the_p4runtime_package_field_by_field() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let venv = Command::new(tests.join("venv.sh"))
        .arg(scratch.join("venv-descriptors"))
        .args(["p4runtime==1.4.1", "protobuf==3.20.3", "googleapis-common-protos==1.73.0", "grpcio==1.85.1"])
        .output()
        .expect("sh is there");
    if venv.status.code() == Some(77) {
        eprintln!("skipped: {}", String::from_utf8_lossy(&venv.stderr).trim());
        return;
    }
    assert!(venv.status.success(), "{}", String::from_utf8_lossy(&venv.stderr));
    let python = String::from_utf8(venv.stdout).expect("a path");
    let ours = scratch.join("descriptors.bin");
    std::fs::write(&ours, inart_p4runtime::FILE_DESCRIPTOR_SET).expect("target/tmp is writable");
    let compared = Command::new(python.trim())
        .arg(tests.join("descriptors.py"))
        .arg(&ours)
        .output()
        .expect("the environment has python");
    let differences = String::from_utf8_lossy(&compared.stderr);
    assert!(compared.status.success(), "{differences}");
    let facts: usize = String::from_utf8_lossy(&compared.stdout).trim().parse().expect("a number");
    assert!(facts > LEAST_FACTS, "only {facts} facts were compared");
}
