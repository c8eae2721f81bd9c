//! `inart push`.

use std::process::ExitCode;

/// Arguments of `inart push`.
#[derive(clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: Args, _json: bool) -> anyhow::Result<ExitCode> {
    anyhow::bail!("inart push is not built yet")
}
