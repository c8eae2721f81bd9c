//! `inart push`.

mod live;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use inart_controller::{Controller, JobPlan, ValuesChoice, job_number};
use inart_planner::{Plan, Topology};
use inart_targets::Session;

use super::control::{self, ControlArgs, Purpose};
pub use live::{document as change_document, ended as change_ended, line as change_line};

/// What to install.
#[derive(clap::Args)]
pub struct PlanArgs {
    /// The plan, or the plans of several jobs (JSON), as `inart plan --json` prints them.
    plan: PathBuf,
    /// The topology document (YAML or JSON) that it was made for.
    topology: PathBuf,
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

/// Arguments of `inart push`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    plan: PlanArgs,
    /// Write what the hosts are told to DIR/JOB.json, for `inart worker` and `inart server`.
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
    /// Reads the files and connects.
    pub async fn prepare(
        &self,
        purpose: Purpose,
    ) -> anyhow::Result<(Controller<Box<dyn Session>>, Vec<JobPlan>)> {
        let topology = super::topology::read(&self.topology)?;
        let plans = super::plan::read_all(&topology, &self.plan)?;
        let place = self.plan.display().to_string();
        let job_plan = |plan| self.settings.job_plan(&topology, plan, &place);
        let jobs = plans.into_iter().map(job_plan).collect::<anyhow::Result<Vec<JobPlan>>>()?;
        let records = control::open_records(&self.control.state(), topology.name())?;
        let values = self.control.values(self.settings.values, &topology, &records)?;
        let controller = self.control.controller(topology, values, records, purpose).await?;
        Ok((controller, jobs))
    }
}

/// Runs the command.
pub fn run(args: Args, json: bool) -> anyhow::Result<ExitCode> {
    control::block_on(async {
        if let Some(address) = &args.controller {
            let (plan, topology) = (&args.plan.plan, super::topology::read(&args.plan.topology)?);
            return live::push(&topology, plan, address, &args.plan.control.security()?, json).await;
        }
        let (mut controller, jobs) = args.plan.prepare(Purpose::Write).await?;
        if let Some(dir) = &args.assignments {
            control::prepare_assignments(dir)?;
        }
        let report = controller.install(&jobs).await?;
        if let Some(dir) = &args.assignments {
            control::write_assignments(dir, &report.assignments)?;
        }
        super::output::print(&if json { control::json(&report) } else { control::table(&report) })?;
        Ok(ExitCode::SUCCESS)
    })
}
