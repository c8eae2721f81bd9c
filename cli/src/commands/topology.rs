//! `inart topology`.

use std::process::ExitCode;

/// Arguments of `inart topology`.
#[derive(clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: Args, _json: bool) -> anyhow::Result<ExitCode> {
    anyhow::bail!("inart topology is not built yet")
}
