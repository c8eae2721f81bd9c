//! `inart diff`.

use std::process::ExitCode;

use super::control::{self, Purpose};
use super::push::PlanArgs;

/// Arguments of `inart diff`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    plan: PlanArgs,
}

/// Runs the command.
pub fn run(args: Args, json: bool) -> anyhow::Result<ExitCode> {
    control::block_on(async {
        let (mut controller, jobs) = args.plan.prepare(Purpose::Read).await?;
        let report = controller.preview(&jobs).await?;
        let text = match json {
            true => control::lines_json(&controller, &jobs, &report),
            false => control::lines(&controller, &jobs, &report),
        };
        super::output::print(&text)?;
        Ok(ExitCode::SUCCESS)
    })
}
