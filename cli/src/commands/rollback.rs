//! `inart rollback`.

use std::process::ExitCode;

/// Arguments of `inart rollback`.
#[derive(clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: Args, _json: bool) -> anyhow::Result<ExitCode> {
    anyhow::bail!("inart rollback is not built yet")
}
