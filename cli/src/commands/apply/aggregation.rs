//! `inart apply` and `inart diff` on a network of switches: plans, or a network of peers on the same
//! switches.

mod live;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use inart_controller::{Controller, JobPlan, ValuesChoice, job_number};
use inart_planner_aggregation::Plan;
use inart_targets::Session;
use inart_topologies::peers::Mesh;
use inart_topologies::switched::Topology;
use inart_topologies::{Network, Switched};

use crate::commands::control::{ControlArgs, Purpose};
use crate::commands::{control, document};
use crate::line::section::{SWITCHES, Section};
use crate::line::{Invocation, OnNetwork};
pub use live::{document as change_document, ended as change_ended, line as change_line};

/// The default number of chunks in flight.
const WINDOW: u32 = 64;

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
    /// Values per frame: 32, 64, 256, 1024, 2048 or auto; selects the switches' program.
    ///
    /// auto is the installed value, else the most that the links' MTU allows.
    #[arg(long, default_value_t = ValuesChoice::Auto)]
    pub values: ValuesChoice,
    /// Chunks in flight per worker and shard, and slots per sum: a power of two.
    #[arg(long, value_name = "CHUNKS", default_value_t = WINDOW, value_parser = parse_window)]
    window: u32,
    /// Factor on the hosts' rates, for a network that is slower than its topology.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = parse_scale)]
    rate_scale: f64,
    /// Take a new plan version even for an installed plan; for a job that restarts from round 0.
    #[arg(long = "new-plan-version")]
    new_plan_version: bool,
}

impl Settings {
    /// Refuses flags that only plans have.
    fn refuse_for_peers(&self) -> anyhow::Result<()> {
        let given = [
            ("--window", self.window != WINDOW),
            ("--rate-scale", self.rate_scale != 1.0),
            ("--new-plan-version", self.new_plan_version),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some((flag, _)) => bail!("{flag}: it is for plans, and this is a network of peers; leave it out"),
            None => Ok(()),
        }
    }

    /// Returns a plan of the topology with these settings; `place` is where it was read.
    pub fn job_plan(&self, topology: &Topology, plan: Plan, place: &str) -> anyhow::Result<JobPlan> {
        let job = job_number(topology, &plan.job).with_context(|| {
            format!("{place}: job {} is not among the first 32767 of the topology", plan.job)
        })?;
        Ok(JobPlan {
            job,
            plan,
            window_chunks: self.window,
            rate_scale: self.rate_scale,
            new_plan_version: self.new_plan_version,
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

/// Arguments of `inart apply` on a network of switches.
#[derive(clap::Args)]
pub struct Args {
    /// Plans (JSON, of one job or several), as `inart plan --json` prints them.
    ///
    /// In their place, a network of peers on the same switches.
    #[arg(value_name = "PLAN")]
    plan: Option<PathBuf>,
    #[command(flatten)]
    how: PlanArgs,
    /// Folder for the hosts' assignments, one JOB.json each, for `inart host`.
    #[arg(long, value_name = "DIR")]
    assignments: Option<PathBuf>,
    /// Let this controller (HOST:PORT or unix:/path) migrate the running jobs to the plans.
    ///
    /// The jobs keep their servers, shares, window and values per frame.
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = [
        "assignments", "switch", "switches", "election_id", "replace_program", "values", "window", "rate_scale", "new_plan_version",
    ])]
    controller: Option<String>,
}

/// A file that is installed: plans, or a network of peers.
pub struct File<'a> {
    path: &'a Path,
    peers: Option<Mesh>,
}

impl<'a> File<'a> {
    /// Reads the file, and its network if it has one.
    ///
    /// # Errors
    /// A network of another kind, or a wrong one.
    pub fn read(path: &'a Path) -> anyhow::Result<Self> {
        let file = |peers| Ok(File { path, peers });
        // A file that cannot be read is an error of the plans' reader.
        let Ok(text) = document::read(path) else { return file(None) };
        match Network::from_yaml(&text) {
            Ok(Network::Peers(mesh)) => file(Some(mesh)),
            Ok(other) => {
                let (path, kind) = (path.display(), other.kind());
                bail!("{path}: this is a network of {kind}; name a plan or a network of peers")
            }
            Err(error) if text.contains("nodes:") => Err(error).with_context(|| path.display().to_string()),
            // Whatever else it is, the plans' reader accepts or refuses it.
            Err(_) => file(None),
        }
    }
}

impl PlanArgs {
    /// Reads plans and connects; a network of peers is installed in place of the one before.
    ///
    /// # Errors
    /// The file, and what [`ControlArgs::connect`] refuses.
    pub async fn prepare(
        &self,
        File { path, peers }: File<'_>,
        topology: Topology,
        purpose: Purpose,
    ) -> anyhow::Result<(Controller<Box<dyn Session>>, Vec<JobPlan>)> {
        let place = path.display().to_string();
        let mut jobs = Vec::new();
        match &peers {
            Some(_) => self.settings.refuse_for_peers().context(place)?,
            None => {
                for plan in crate::commands::plan::aggregation::read_all(&topology, path)? {
                    jobs.push(self.settings.job_plan(&topology, plan, &place)?);
                }
            }
        }
        let controller = self.control.connect(topology, peers, self.settings.values, purpose).await?;
        Ok((controller, jobs))
    }
}

impl OnNetwork for Args {
    type Network = Switched;
    const SECTION: &'static Section = &SWITCHES;

    fn run(self, network: Switched, invocation: &Invocation) -> anyhow::Result<ExitCode> {
        run(&self, network.topology, invocation.json)
    }
}

fn run(args: &Args, topology: Topology, json: bool) -> anyhow::Result<ExitCode> {
    let plan = args.plan.as_deref();
    let plan =
        plan.context("PLAN is missing; name the plan (JSON) before the network: inart apply PLAN NETWORK")?;
    let file = File::read(plan)?;
    if file.peers.is_some() {
        ensure!(
            args.controller.is_none(),
            "--controller: it moves jobs to plans; give a network of peers to `inart controller --peers`"
        );
        ensure!(args.assignments.is_none(), "--assignments: peers have none; leave it out");
    }
    control::block_on(async {
        if let Some(address) = &args.controller {
            return live::push(&topology, plan, address, &args.how.control.security()?, json).await;
        }
        let (mut controller, jobs) = args.how.prepare(file, topology, Purpose::Write).await?;
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
