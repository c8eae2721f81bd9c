//! `inart diff`.

use std::process::ExitCode;

/// Arguments of `inart diff`.
#[derive(clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: Args, _json: bool) -> anyhow::Result<ExitCode> {
    anyhow::bail!("inart diff is not built yet")
}
