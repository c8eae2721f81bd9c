//! The command as a process, and files to give it.
#![allow(clippy::unwrap_used)]

pub mod doctor;
#[path = "../../../host-agent/ps/host/tests/support/loopback.rs"]
pub mod loopback;
pub mod processes;
pub mod ps;
pub mod ring;
pub mod switches;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::TempDir;

/// Waits until no other test of this program runs a network of processes. On two cores two such tests at once
/// make processes time out.
pub fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A folder of its own for a test's files, with Fig. 1 and a plan for it.
pub struct Workbench(TempDir);

impl Workbench {
    pub fn new() -> Self {
        let bench = Self(TempDir::new().unwrap());
        std::fs::copy(root().join("topologies/fig1.yaml"), bench.path("fig1.yaml")).unwrap();
        let plan = bench.inart(&["plan", "fig1.yaml", "--scheme", "atp", "--json"]);
        assert!(plan.status.success(), "{plan:?}");
        bench.write("plan.json", plan.stdout);
        bench
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), contents).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The command, in this folder.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_inart"));
        command.args(arguments).current_dir(self.0.path()).env_remove("XDG_STATE_HOME").stdin(Stdio::null());
        command
    }

    pub fn inart(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs what must be refused: one line on standard error that names all of `named`, status 2, nothing on
    /// standard output, and no file more than before.
    pub fn refused(&self, arguments: &[&str], named: &[&str]) {
        let before = self.files();
        let output = self.inart(arguments);
        is_refusal(&output, arguments, named);
        assert_eq!(self.files(), before, "{arguments:?} left files behind");
    }

    fn files(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
    }
}

pub fn is_refusal(output: &Output, arguments: &[&str], named: &[&str]) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
    assert!(output.stdout.is_empty(), "{arguments:?}: {output:?}");
    assert!(said.starts_with("error: ") && said.lines().count() == 1, "{arguments:?}: {said}");
    for name in named {
        assert!(said.contains(name), "{arguments:?} should name {name:?}: {said}");
    }
}

/// The top of the source tree.
pub fn root() -> &'static Path {
    Path::new(env!("INART_ROOT"))
}
