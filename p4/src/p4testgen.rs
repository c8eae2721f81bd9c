//! Packet cases that p4testgen derives from the program.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use inart_wire::ValuesPerFrame;

use crate::scratch::Scratch;
use crate::{Error, manifest};

const P4TESTGEN: &str = "p4testgen";

/// The folder of the cases, relative to the P4 folder.
pub const CASES: &str = "tests/p4testgen";
/// The sources that the cases belong to, relative to the P4 folder, in the format of `sha256sum`.
const CASES_MANIFEST: &str = "tests/p4testgen/SOURCES.sha256";

/// Values per frame: the fewest, for small files. More take the same paths.
pub const CASES_FOR: ValuesPerFrame = ValuesPerFrame::N32;
/// Bits of the packets it may make up: frames of 32 values, and some more.
const PACKET_BITS: &str = "0:2400";

/// Decides the values.
const SEED: &str = "3";
/// End without further paths.
const MAX_TESTS: &str = "0";

/// `p4testgen`, found on the PATH.
#[derive(Debug)]
pub struct P4testgen(());

impl P4testgen {
    /// Looks for it on the PATH.
    pub fn find() -> Option<Self> {
        Command::new(P4TESTGEN).args(["--target", "bmv2", "--arch", "v1model", "--version"]).output().ok()?;
        Some(Self(()))
    }

    /// Prints the cases of the program in the P4 folder `dir` again, one of each path that it found, and
    /// lists the hashes of the sources. How many there are.
    ///
    /// # Errors
    ///
    /// p4testgen stops, or a file cannot be read or written.
    pub fn build(&self, dir: &Path) -> Result<usize, Error> {
        let folder = dir.join(CASES);
        for old in scripts(&folder)? {
            let path = folder.join(old);
            std::fs::remove_file(&path).map_err(Error::file(&path))?;
        }
        let mut seen = BTreeSet::new();
        for (number, trace) in self.traces(dir)?.into_iter().enumerate() {
            if seen.insert(path_taken(&trace)) {
                let path = folder.join(format!("{:04}.stf", number + 1));
                std::fs::write(&path, statements(&trace)).map_err(Error::file(&path))?;
            }
        }
        manifest::write_list(dir, CASES_MANIFEST, &[])?;
        Ok(seen.len())
    }

    /// Returns one case for every path through the program, with its trace.
    fn traces(&self, dir: &Path) -> Result<Vec<String>, Error> {
        let scratch = Scratch::new("cases")?;
        let output = Command::new(P4TESTGEN)
            .args(["--target", "bmv2", "--arch", "v1model", "--std", "p4-16", "--test-backend", "STF"])
            .args(["-D", &format!("VALUES_PER_FRAME={CASES_FOR}"), "--packet-size-range", PACKET_BITS])
            .args(["--path-selection", "DEPTH_FIRST", "--seed", SEED, "--max-tests", MAX_TESTS, "--out-dir"])
            .arg(scratch.path())
            .arg("inart.p4")
            .current_dir(dir)
            .output()
            .map_err(Error::file(Path::new(P4TESTGEN)))?;
        let files = scripts(scratch.path())?;
        if !output.status.success() || files.is_empty() {
            let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(Error::Cases { message });
        }
        // inart_10 follows inart_9.
        let mut files: Vec<_> = files.into_iter().map(|file| (file.len(), file)).collect();
        files.sort();
        files.into_iter().map(|(_, file)| read(&scratch.path().join(file))).collect()
    }
}

/// Do the cases in the P4 folder `dir` belong to the sources there?
///
/// # Errors
///
/// A source has changed, or a file cannot be read.
pub fn check_cases(dir: &Path) -> Result<(), Error> {
    manifest::check(dir, CASES_MANIFEST, &[])
}

/// Returns the cases in the P4 folder `dir` by file name, in order.
///
/// # Errors
///
/// The folder or a file cannot be read.
pub fn cases(dir: &Path) -> Result<Vec<(String, String)>, Error> {
    let folder = dir.join(CASES);
    let names = scripts(&folder)?.into_iter();
    names.map(|name| read(&folder.join(&name)).map(|text| (name, text))).collect()
}

fn read(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(Error::file(path))
}

/// Returns the names of the scripts in a folder, in order.
fn scripts(folder: &Path) -> Result<Vec<String>, Error> {
    let mut names = Vec::new();
    for entry in folder.read_dir().map_err(Error::file(folder))? {
        let name = entry.map_err(Error::file(folder))?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".stf") {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Returns the lines other than comments and blank lines.
fn statements(trace: &str) -> String {
    let lines = trace.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| format!("{line}\n")).collect()
}

/// Returns the packet's path from its trace: parser states, branches, and actions of tables, without the
/// values.
fn path_taken(trace: &str) -> String {
    let mut path = String::new();
    for line in trace.lines().filter_map(|line| line.strip_prefix("# [")) {
        let step = if let Some(state) = line.strip_prefix("State] ") {
            Some(state)
        } else if line.starts_with("ExtractFail") {
            Some("too short")
        } else if line.contains("If Statement]") {
            line.rsplit_once("Result: ").map(|(_, result)| result)
        } else {
            line.strip_prefix("Table Branch: ").and_then(|_| line.rsplit_once(": ")).map(|(_, action)| action)
        };
        if let Some(step) = step {
            path.push_str(step);
            path.push('\n');
        }
    }
    path
}
