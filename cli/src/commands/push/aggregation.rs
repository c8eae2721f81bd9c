//! `inart push` on a network of switches.

mod live;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use inart_controller::{Controller, JobPlan, ValuesChoice, job_number};
use inart_planner_aggregation::Plan;
use inart_targets::Session;
use inart_topologies::Switched;
use inart_topologies::switched::Topology;

use crate::commands::control;
use crate::commands::control::{ControlArgs, Purpose};
use crate::line::section::{SWITCHES, Section};
use crate::line::{Asked, OnNetwork};
pub use live::{document as change_document, ended as change_ended, line as change_line};

/// How to install plans, and where.
#[derive(clap::Args)]
pub struct PlanArgs {
    #[command(flatten)]
    settings: Settings,
    #[command(flatten)]
    pub control: ControlArgs,
}

/// How to install it.
#[derive(clap::Args)]
pub struct Settings {
    /// Values per frame: 32, 64, 256, 1024 or 2048, for which the switches' program is compiled; or
    /// auto: what was installed before, else the most that the links' MTU has room for.
    #[arg(long, default_value_t = ValuesChoice::Auto)]
    pub values: ValuesChoice,
    /// Chunks in flight per worker and shard, and slots per sum: a power of two.
    #[arg(long, value_name = "CHUNKS", default_value_t = 64, value_parser = parse_window)]
    window: u32,
    /// What the hosts' rates are multiplied by, for a network that is slower than its topology says.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = parse_scale)]
    rate_scale: f64,
    /// Take a new epoch even if this plan is installed: for a job that starts again from its first round.
    #[arg(long)]
    new_epoch: bool,
}

impl Settings {
    /// A plan of the topology with these settings; `place` is where it was read.
    pub fn job_plan(&self, topology: &Topology, plan: Plan, place: &str) -> anyhow::Result<JobPlan> {
        let job = job_number(topology, &plan.job).with_context(|| {
            format!("{place}: job {} is not among the first 65535 of the topology", plan.job)
        })?;
        Ok(JobPlan {
            job,
            plan,
            window_chunks: self.window,
            rate_scale: self.rate_scale,
            new_epoch: self.new_epoch,
        })
    }
}

pub fn parse_window(text: &str) -> Result<u32, String> {
    let window = text.parse().ok().filter(|chunks: &u32| chunks.is_power_of_two());
    window.ok_or_else(|| "give a power of two, such as 64".to_owned())
}

fn parse_scale(text: &str) -> Result<f64, String> {
    let scale = text.parse().ok().filter(|scale: &f64| scale.is_finite() && *scale > 0.0);
    scale.ok_or_else(|| "give a number above 0, such as 0.01".to_owned())
}

/// Arguments of `inart push` on a network of switches.
#[derive(clap::Args)]
pub struct Args {
    /// The plan, or the plans of several jobs (JSON), as `inart plan --json` prints them.
    #[arg(value_name = "PLAN")]
    plan: Option<PathBuf>,
    #[command(flatten)]
    how: PlanArgs,
    /// Write what the hosts are told to DIR/JOB.json, for `inart host`.
    #[arg(long, value_name = "DIR")]
    assignments: Option<PathBuf>,
    /// Let the controller that listens there (HOST:PORT or unix:/path) move the jobs, which run, to the
    /// plans. They keep their servers, shares, window and values.
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = [
        "assignments", "switch", "switches", "election_id", "replace_program", "values", "window", "rate_scale", "new_epoch",
    ])]
    controller: Option<String>,
}

impl PlanArgs {
    /// Reads the plans and connects.
    pub async fn prepare(
        &self,
        plan: &Path,
        topology: Topology,
        purpose: Purpose,
    ) -> anyhow::Result<(Controller<Box<dyn Session>>, Vec<JobPlan>)> {
        let plans = crate::commands::plan::aggregation::read_all(&topology, plan)?;
        let place = plan.display().to_string();
        let job_plan = |plan| self.settings.job_plan(&topology, plan, &place);
        let jobs = plans.into_iter().map(job_plan).collect::<anyhow::Result<Vec<JobPlan>>>()?;
        let records = control::open_records(&self.control.state(), topology.name())?;
        let values = self.control.values(self.settings.values, &topology, &records)?;
        let controller = self.control.controller(topology, values, records, purpose).await?;
        Ok((controller, jobs))
    }
}

impl OnNetwork for Args {
    type Network = Switched;
    const SECTION: &'static Section = &SWITCHES;

    fn run(self, network: Switched, asked: &Asked) -> anyhow::Result<ExitCode> {
        run(&self, network.topology, asked.json)
    }
}

fn run(args: &Args, topology: Topology, json: bool) -> anyhow::Result<ExitCode> {
    let plan = args.plan.as_deref();
    let plan =
        plan.context("PLAN is missing; name the plan (JSON) before the network: inart push PLAN NETWORK")?;
    control::block_on(async {
        if let Some(address) = &args.controller {
            return live::push(&topology, plan, address, &args.how.control.security()?, json).await;
        }
        let (mut controller, jobs) = args.how.prepare(plan, topology, Purpose::Write).await?;
        if let Some(dir) = &args.assignments {
            control::prepare_assignments(dir)?;
        }
        let report = controller.install(&jobs).await?;
        if let Some(dir) = &args.assignments {
            control::write_assignments(dir, &report.assignments)?;
        }
        crate::commands::output::print(&if json { control::json(&report) } else { control::table(&report) })?;
        Ok(ExitCode::SUCCESS)
    })
}
