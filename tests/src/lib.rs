//! End-to-end tests across crates; the tests themselves live in `tests/`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The workspace's root folder.
pub fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this crate is a member of the workspace")
}

/// The `inart` command, built from the sources as they are: `cargo test` alone does not build other packages'
/// binaries.
pub fn inart() -> PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    let built = || {
        // The test's own executable is target/PROFILE/deps/NAME.
        let test = std::env::current_exe().expect("running");
        let folder = test.ancestors().nth(2).expect("a target folder");
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "-p", "inart-cli"]).current_dir(workspace());
        if folder.ends_with("release") {
            cargo.arg("--release");
        }
        assert!(cargo.status().expect("cargo runs").success(), "inart does not build");
        folder.join("inart")
    };
    PATH.get_or_init(built).clone()
}

/// Whether this process may build networks; says so if not.
pub fn is_root() -> bool {
    let root = nix::unistd::geteuid().is_root();
    if !root {
        eprintln!("skipped: needs root for network namespaces");
    }
    root
}
