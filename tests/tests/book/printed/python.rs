//! The reference of a Python package, which a script prints from its sources without importing it.

use std::process::Command;

use super::at;

/// Returns the public names of a package, with signatures and the first paragraphs of their docstrings.
pub fn reference(package: &str) -> String {
    let script = at("tests/scripts/python_api.py");
    let output = Command::new("python3").arg(script).arg(package).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
