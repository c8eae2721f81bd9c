//! Versions of p4c's tools: the one on the PATH, and the one that printed what is committed.

use std::path::Path;
use std::process::Command;

use crate::Error;

/// What a tool of p4c's answers to `--version`, which `command` asks: version and commit in its own words.
/// `None` if it is not there, or says nothing of the kind.
pub(crate) fn of_tool(command: &mut Command) -> Option<String> {
    let output = command.output().ok()?;
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    text.lines().find_map(|line| line.trim().strip_prefix("Version ")).map(str::to_owned)
}

/// The version in a file of the P4 folder `dir`.
///
/// # Errors
/// If the file cannot be read.
pub(crate) fn noted(dir: &Path, file: &str) -> Result<String, Error> {
    let path = dir.join(file);
    Ok(std::fs::read_to_string(&path).map_err(Error::file(&path))?.trim_end().to_owned())
}
