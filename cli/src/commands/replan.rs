//! `inart replan`: a running controller searches for better plans at once.

use std::process::ExitCode;

use crate::commands::client::ControllerArgs;
use crate::commands::control::block_on;

/// Arguments of `inart replan`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    controller: ControllerArgs,
    /// Allow new shares of elastic jobs.
    #[arg(long)]
    shares: bool,
}

/// Runs the command: prints the controller's decision.
///
/// # Errors
/// No controller answers at the address, or it does not watch its network.
pub fn run(args: &Args, json: bool) -> anyhow::Result<ExitCode> {
    let decision = block_on(async { Ok(args.controller.connect().await?.replan(args.shares).await?) })?;
    let text = if json { decision.json } else { decision.line };
    crate::commands::output::print(&format!("{text}\n"))?;
    Ok(ExitCode::SUCCESS)
}
