//! `inart diff`.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::commands::control::Purpose;
use crate::commands::push::aggregation::PlanArgs;
use crate::commands::{control, network};

/// Arguments of `inart diff`.
#[derive(clap::Args)]
pub struct Args {
    /// The plan, or the plans of several jobs (JSON), as `inart plan --json` prints them.
    plan: PathBuf,
    /// The network's document (YAML or JSON) that it was made for.
    network: PathBuf,
    #[command(flatten)]
    how: PlanArgs,
}

/// Runs the command.
pub fn run(args: Args, json: bool) -> anyhow::Result<ExitCode> {
    let topology = network::switched(&args.network)?.topology;
    control::block_on(async {
        let (mut controller, jobs) = args.how.prepare(&args.plan, topology, Purpose::Read).await?;
        let report = controller.preview(&jobs).await?;
        let text = match json {
            true => control::lines_json(&controller, &jobs, &report),
            false => control::lines(&controller, &jobs, &report),
        };
        crate::commands::output::print(&text)?;
        Ok(ExitCode::SUCCESS)
    })
}
