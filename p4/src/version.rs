//! Versions of p4c's tools: on the PATH, and of the committed output.

use std::path::Path;
use std::process::Command;

use crate::Error;

/// Returns a tool's answer to `--version`, which `command` runs: version and commit as the tool prints them.
/// `None` if the tool is missing, or prints no version.
pub(crate) fn of_tool(command: &mut Command) -> Option<String> {
    let output = command.output().ok()?;
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    text.lines().find_map(|line| line.trim().strip_prefix("Version ")).map(str::to_owned)
}

/// Returns the version in a file of the P4 folder `dir`.
///
/// # Errors
/// If the file cannot be read.
pub(crate) fn noted(dir: &Path, file: &str) -> Result<String, Error> {
    let path = dir.join(file);
    Ok(std::fs::read_to_string(&path).map_err(Error::file(&path))?.trim_end().to_owned())
}
