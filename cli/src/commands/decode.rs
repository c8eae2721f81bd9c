//! `inart decode`.

use std::process::ExitCode;

/// Arguments of `inart decode`.
#[derive(clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: Args, _json: bool) -> anyhow::Result<ExitCode> {
    anyhow::bail!("inart decode is not built yet")
}
