//! Runs STF cases (p4c's packet tests) on the switch, as p4c's own runner runs them on bmv2.

mod case;
mod names;
pub mod stf;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use self::case::Ports;
use crate::{Architecture, Program};

/// Results of a folder of cases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Cases found.
    pub total: usize,
    /// Cases with all packets as expected.
    pub passed: usize,
    /// The others.
    pub failed: Vec<Failure>,
}

/// A case that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The file's name without its ending.
    pub name: String,
    /// The first difference.
    pub why: String,
}

/// Runs every `NAME.stf` in a folder on the pipeline `NAME.json` next to it, in order of name. `NAME_7.stf`
/// runs on `NAME.json` if there is no `NAME_7.json`: p4testgen numbers its cases so.
///
/// # Errors
/// Returns an error if the folder cannot be read. A case that fails is in the report.
pub fn run_directory(directory: &Path) -> std::io::Result<Report> {
    run_directory_for(directory, None)
}

/// As [`run_directory`]; a case on a pipeline of another architecture fails.
///
/// # Errors
/// As [`run_directory`].
pub fn run_directory_for(directory: &Path, wanted: Option<Architecture>) -> std::io::Result<Report> {
    let mut scripts = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "stf") {
            scripts.push(path);
        }
    }
    scripts.sort();
    let mut report = Report { total: scripts.len(), passed: 0, failed: Vec::new() };
    let mut compiled = Compiled::default();
    for script in scripts {
        let done = compiled.get(&pipeline_of(&script)).and_then(|program| {
            if wanted.is_some_and(|wanted| wanted != program.architecture()) {
                return Err(format!("the pipeline is of {:?}", program.architecture()));
            }
            let text = read(&script)?;
            run(program, &stf::parse(&String::from_utf8_lossy(&text))?, Ports::Named)
        });
        match done {
            Ok(()) => report.passed += 1,
            Err(why) => {
                let name = script.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                report.failed.push(Failure { name, why });
            }
        }
    }
    Ok(report)
}

/// Runs one script on one pipeline (bmv2 JSON). All ports exist: a packet that leaves by a port that the
/// script does not name is a difference.
///
/// # Errors
///
/// Returns the first difference, or the problem of the pipeline.
pub fn run_on_all_ports(pipeline: &[u8], script: &[stf::Statement]) -> Result<(), String> {
    run(compile(pipeline)?, script, Ports::All)
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn compile(pipeline: &[u8]) -> Result<Arc<Program>, String> {
    Program::compile(pipeline).map_err(|error| error.to_string())
}

/// Runs a case of TNA. These are from p4testgen, which knows all ports: an unnamed packet is a difference.
fn run(program: Arc<Program>, script: &[stf::Statement], ports: Ports) -> Result<(), String> {
    let ports = if program.architecture() == Architecture::Tna { Ports::All } else { ports };
    case::run(program, script, ports)
}

/// Returns the pipeline of a script: of its name, or of its name without the number.
fn pipeline_of(script: &Path) -> PathBuf {
    let own = script.with_extension("json");
    let name = script.file_stem().unwrap_or_default().to_string_lossy();
    match name.rsplit_once('_') {
        Some((stem, number)) if !own.is_file() && number.bytes().all(|digit| digit.is_ascii_digit()) => {
            script.with_file_name(format!("{stem}.json"))
        }
        _ => own,
    }
}

/// The pipeline that was compiled last: cases of one follow each other.
#[derive(Default)]
struct Compiled(Option<(PathBuf, Result<Arc<Program>, String>)>);

impl Compiled {
    fn get(&mut self, path: &Path) -> Result<Arc<Program>, String> {
        match &self.0 {
            Some((known, program)) if known == path => program.clone(),
            _ => {
                let program = read(path).and_then(|text| compile(&text));
                self.0 = Some((path.to_owned(), program.clone()));
                program
            }
        }
    }
}
