//! `inart emulate`.

use std::process::ExitCode;

/// Arguments of `inart emulate`.
#[derive(clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: Args, _json: bool) -> anyhow::Result<ExitCode> {
    anyhow::bail!("inart emulate is not built yet")
}
