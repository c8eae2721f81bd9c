//! Runs STF cases (p4c's packet tests) on the switch, the way p4c's own runner drives bmv2.

mod case;
mod names;
pub mod stf;

use std::path::Path;

use serde::Serialize;

use self::case::Ports;

/// What became of a folder of cases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Cases found.
    pub total: usize,
    /// Cases whose packets all came out as expected.
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

/// Runs every `NAME.stf` in a folder on the pipeline `NAME.json` beside it, in order of name.
///
/// # Errors
/// If the folder cannot be read. A case that fails is in the report.
pub fn run_directory(directory: &Path) -> std::io::Result<Report> {
    let mut scripts = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "stf") {
            scripts.push(path);
        }
    }
    scripts.sort();
    let mut report = Report { total: scripts.len(), passed: 0, failed: Vec::new() };
    for script in scripts {
        match run_case(&script.with_extension("json"), &script) {
            Ok(()) => report.passed += 1,
            Err(why) => {
                let name = script.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                report.failed.push(Failure { name, why });
            }
        }
    }
    Ok(report)
}

/// Runs one script on one pipeline; what differed, if anything. Ports that the script does not speak of do
/// not exist.
///
/// # Errors
///
/// The first difference, or what cannot be read.
pub fn run_case(pipeline: &Path, script: &Path) -> Result<(), String> {
    let read = |path: &Path| std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
    let script = read(script)?;
    let script = stf::parse(&String::from_utf8_lossy(&script))?;
    run(&read(pipeline)?, &script, Ports::Named)
}

/// Runs one script on one pipeline (bmv2 JSON); what differed, if anything. All ports exist: a packet that
/// leaves by one that the script does not speak of is a difference.
///
/// # Errors
///
/// The first difference, or what is wrong with the pipeline.
pub fn run_on_all_ports(pipeline: &[u8], script: &[stf::Statement]) -> Result<(), String> {
    run(pipeline, script, Ports::All)
}

fn run(pipeline: &[u8], script: &[stf::Statement], ports: Ports) -> Result<(), String> {
    let program = crate::Program::compile(pipeline).map_err(|error| error.to_string())?;
    case::run(program, script, ports)
}
