//! `inart worker`.

use std::process::ExitCode;

/// Arguments of `inart worker`.
#[derive(clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: Args, _json: bool) -> anyhow::Result<ExitCode> {
    anyhow::bail!("inart worker is not built yet")
}
