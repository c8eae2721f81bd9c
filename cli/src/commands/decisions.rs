//! `inart decisions`: the decisions of a running controller.

use std::process::ExitCode;

use inart_controller::api::proto::Decision;

use crate::commands::client::ControllerArgs;
use crate::commands::control::block_on;

/// Arguments of `inart decisions`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    controller: ControllerArgs,
}

/// Runs the command.
///
/// # Errors
/// No controller answers at the address, or it does not accept this client.
pub fn run(args: &Args, json: bool) -> anyhow::Result<ExitCode> {
    let decisions = block_on(async { Ok(args.controller.connect().await?.list_decisions().await?) })?;
    crate::commands::output::print(&text(&decisions, json))?;
    Ok(ExitCode::SUCCESS)
}

/// Returns decisions, one per line, or as a JSON document.
fn text(decisions: &[Decision], json: bool) -> String {
    if json {
        let all: Vec<&str> = decisions.iter().map(|decision| &*decision.json).collect();
        return format!("{{\"decisions\":[{}]}}\n", all.join(","));
    }
    if decisions.is_empty() {
        return "no decisions yet\n".to_owned();
    }
    decisions.iter().map(|decision| format!("{}\n", decision.line)).collect()
}
