//! `inart plan`.

use std::process::ExitCode;

/// Arguments of `inart plan`.
#[derive(clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: Args, _json: bool) -> anyhow::Result<ExitCode> {
    anyhow::bail!("inart plan is not built yet")
}
