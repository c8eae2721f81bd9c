//! `inart status`: the status of a running controller, or of another process at its status socket.

pub mod controller;
mod process;

use std::process::ExitCode;

use crate::commands::client::ControllerArgs;
use crate::commands::control::block_on;

/// Arguments of `inart status`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    controller: ControllerArgs,
    /// Print the status of a host, scheduler or coordinator in place of the controller's.
    ///
    /// The address is the one of the process's --status: a path, or 127.0.0.1:PORT.
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["controller", "tls_ca", "insecure"])]
    socket: Option<String>,
}

/// Runs the command.
///
/// # Errors
/// No process answers at the address, or it does not accept this client.
pub fn run(args: &Args, json: bool) -> anyhow::Result<ExitCode> {
    let text = match &args.socket {
        Some(address) => process::status(address, json)?,
        None => {
            let status = block_on(async { Ok(args.controller.connect().await?.status().await?) })?;
            if json { serde_json::to_string(&status)? + "\n" } else { controller::text(&status) }
        }
    };
    crate::commands::output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
