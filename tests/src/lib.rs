//! End-to-end tests across crates; the tests themselves are in `tests/`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use serde_json::Value;
use tempfile::TempDir;

/// Returns the workspace's root folder.
pub fn workspace() -> &'static Path {
    Path::new(env!("INART_ROOT"))
}

/// Returns the `inart` command, built from the sources as they are: `cargo test` alone does not build other
/// packages' binaries.
pub fn inart() -> PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    let built = || {
        // The test's own executable is target/PROFILE/deps/NAME.
        let test = std::env::current_exe().expect("running");
        let folder = test.ancestors().nth(2).expect("a target folder");
        let mut cargo = Command::new(env!("CARGO"));
        // The workspace with an example, so that features, and with them third-party crates, are those of the
        // tests.
        cargo.args(["build", "--quiet", "--locked", "--workspace", "--bin", "inart"]);
        cargo.args(["--example", "digits", "--example", "rank"]);
        cargo.current_dir(workspace());
        // tests/scripts/test.py sets it where it times tests; crates would be compiled again for it.
        cargo.env_remove("RUSTC_BOOTSTRAP");
        // Cargo's variables for this test's package would make the build script of `ring` run again, and
        // recompile all that depends on it, here and at the next call of cargo elsewhere.
        for (name, _) in std::env::vars_os() {
            let starts = |start: &str| name.as_encoded_bytes().starts_with(start.as_bytes());
            if starts("CARGO_PKG_") || starts("CARGO_MANIFEST_") {
                cargo.env_remove(&name);
            }
        }
        if folder.ends_with("release") {
            cargo.arg("--release");
        }
        assert!(cargo.status().expect("cargo runs").success(), "inart does not build");
        folder.join("inart")
    };
    PATH.get_or_init(built).clone()
}

/// Returns whether this process may build networks; reports if not.
pub fn is_root() -> bool {
    let root = nix::unistd::geteuid().is_root();
    if !root {
        eprintln!("skipped: needs root for network namespaces");
    }
    root
}

/// Root's leave to emulate, one test at a time: ten processes each and two cores make hosts give each other
/// up. `None` without root.
pub fn turn() -> Option<MutexGuard<'static, ()>> {
    static TURN: Mutex<()> = Mutex::new(());
    is_root().then(|| TURN.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Returns a call of `inart emulate` on Fig. 1 with a short training, with its chart and a test's files in a
/// folder of its own.
pub fn emulate(arguments: &[&str]) -> (Command, TempDir) {
    let folder = TempDir::new().expect("a folder");
    let mut command = Command::new(inart());
    command.arg("emulate").arg(workspace().join("topologies/fig1.yaml"));
    command.args(["--batch", "4", "--json", "--chart"]).arg(folder.path().join("chart.svg")).args(arguments);
    (command, folder)
}

/// Returns the JSON document that a successful emulation printed.
pub fn document(output: &Output) -> Value {
    assert!(output.status.success(), "{output:?}");
    assert!(output.stderr.is_empty(), "silent in a pipe: {output:?}");
    serde_json::from_slice(&output.stdout).expect("one JSON document")
}
