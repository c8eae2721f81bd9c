//! `inart switch`.

use std::process::ExitCode;

/// Arguments of `inart switch`.
#[derive(clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: Args, _json: bool) -> anyhow::Result<ExitCode> {
    anyhow::bail!("inart switch is not built yet")
}
