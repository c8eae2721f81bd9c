//! The Python package, with the extension module that cargo has built for these tests.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use inart_tests::workspace;
use tempfile::TempDir;

/// Debian's own Python, which has Debian's packages; or the one in `INART_TEST_PYTHON`, to try another torch.
pub fn python() -> OsString {
    std::env::var_os("INART_TEST_PYTHON").unwrap_or_else(|| "/usr/bin/python3".into())
}

/// Returns whether Python and these modules are installed; reports if not.
pub fn has(modules: &[&str]) -> bool {
    let import = format!("import {}", modules.join(", "));
    let found = Command::new(python()).args(["-c", &import]).output();
    let is_there = found.is_ok_and(|output| output.status.success());
    if !is_there {
        eprintln!(
            "skipped: {} has not all of {}; install Debian's packages python3-numpy, python3-torch",
            python().display(),
            modules.join(", ")
        );
    }
    is_there
}

/// Returns a folder for `PYTHONPATH`.
pub fn package() -> &'static Path {
    static PACKAGE: OnceLock<TempDir> = OnceLock::new();
    PACKAGE
        .get_or_init(|| {
            let folder = TempDir::new().expect("a folder");
            copy(&workspace().join("python/inart"), &folder.path().join("inart"));
            std::os::unix::fs::symlink(module(), folder.path().join("inart/_inart.abi3.so")).expect("linked");
            folder
        })
        .path()
}

/// This crate depends on inart-python, so that cargo has built it next to this test.
fn module() -> PathBuf {
    let test = std::env::current_exe().expect("running");
    let module = test.with_file_name("libinart_python.so");
    assert!(module.exists(), "cargo builds {}", module.display());
    module
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).expect("made");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("readable");
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to);
        } else if from.extension().is_some_and(|extension| extension == "py") {
            std::fs::copy(&from, &to).expect("copied");
        }
    }
}
