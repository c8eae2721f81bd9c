//! `inart server`.

use std::process::ExitCode;

/// Arguments of `inart server`.
#[derive(clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: Args, _json: bool) -> anyhow::Result<ExitCode> {
    anyhow::bail!("inart server is not built yet")
}
