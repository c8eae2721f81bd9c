//! `inart simulate NETWORK --sync …`.

mod agents;
pub mod groups;

use std::process::ExitCode;

use anyhow::{Context, ensure};
use inart_topologies::Switched;
use inart_topologies::ps::Kind;

use crate::commands::network::training_job;
use crate::commands::output::print;
use crate::commands::ps::absent::{Absent, absences};
use crate::commands::ps::clients::ClientArgs;
use crate::commands::ps::common::{Common, refuse};
use crate::commands::ps::no_plan::NoPlan;
use crate::commands::ps::workers::WorkerArgs;
use crate::commands::values::seconds;
use crate::line::section::{SERVERS, Section};
use crate::line::{Invocation, OnNetwork};
use agents::{AgentArgs, Run};

/// Arguments of `inart simulate` with `--sync`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    no_plan: NoPlan,
    /// Job to run [default: the only job with `compute`].
    #[arg(long, value_name = "JOB")]
    job: Option<String>,
    /// Synchronization: bsp, asp, ssp, safa or r2sp; with clients: fl-r2sp.
    #[arg(long, value_parser = ["bsp", "asp", "ssp", "safa", "r2sp", "fl-r2sp"])]
    sync: String,
    /// With r2sp and fl-r2sp: relaxation r of the gap r T/N or r T/M; with r2sp also `auto`.
    ///
    /// [default: 0.8 with r2sp, as in the R²SP paper; 1 with fl-r2sp].
    #[arg(long, value_name = "R")]
    relaxation: Option<String>,
    /// With safa and fl-r2sp: fraction of the workers or of the group to wait for [default: 0.75].
    #[arg(long, value_name = "C")]
    fraction: Option<f64>,
    /// With --sync r2sp: number of worker groups, aggregated by switches, in round-robin order.
    ///
    /// Without a value, the number with the shortest predicted iteration.
    #[arg(long = "aggregated-groups", value_name = "GROUPS", num_args = 0..=1, require_equals = true,
        default_missing_value = groups::BY_RULE)]
    racks: Option<String>,
    #[command(flatten)]
    workers: WorkerArgs,
    #[command(flatten)]
    clients: ClientArgs,
    /// Absence of a participant: w3=20s..60s, or w3=20s.. for good; repeat for others.
    #[arg(long, value_name = "NAME=FROM..UNTIL")]
    absent: Vec<Absent>,
    /// Evict a silent participant after this long, such as 30s [default: at once].
    #[arg(long = "push-timeout", value_name = "TIME", value_parser = seconds)]
    patience: Option<f64>,
    /// Random seed of compute times and pauses.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    agents: AgentArgs,
}

impl OnNetwork for Args {
    type Network = Switched;
    const SECTION: &'static Section = &SERVERS;

    fn run(self, network: Switched, invocation: &Invocation) -> anyhow::Result<ExitCode> {
        run(&self, &network, invocation)
    }
}

fn run(args: &Args, network: &Switched, invocation: &Invocation) -> anyhow::Result<ExitCode> {
    let json = invocation.json;
    args.no_plan.refuse(args.racks.is_some())?;
    let cluster = network.training().with_context(|| invocation.path.display().to_string())?;
    let job = training_job(&cluster, args.job.as_deref())?;
    let common = Common {
        sync: &args.sync,
        relaxation: args.relaxation.as_deref(),
        fraction: args.fraction,
        patience_s: args.patience,
        absent: &args.absent,
        seed: args.seed,
    };
    let run = Run {
        topology: &network.topology,
        job,
        common: &common,
        workers: &args.workers,
        clients: &args.clients,
    };
    let gone = || absences(&network.topology, job, &args.absent, args.patience.is_none());
    let agents = |is_grouped: bool| {
        let text = args.agents.run(&run, json)?;
        ensure!(
            text.is_none() || !is_grouped,
            "--faults: groups (--aggregated-groups) are not simulated as processes; leave one of both out"
        );
        anyhow::Ok(text)
    };
    let text = if args.sync == "fl-r2sp" {
        refuse(args.racks.is_some(), "aggregated-groups", "r2sp")?;
        args.workers.refused()?;
        match agents(false)? {
            Some(text) => text,
            None => args.clients.run(job, &common, gone()?, json)?,
        }
    } else {
        args.clients.refused()?;
        ensure!(
            job.kind == Kind::Workers,
            "--sync {}: job {} has clients, and this is for workers; take fl-r2sp",
            args.sync,
            job.name
        );
        match (agents(args.racks.is_some())?, &args.racks) {
            (Some(text), _) => text,
            (None, Some(groups)) => {
                groups::run(&network.topology, job, groups, &args.workers, &common, json)?
            }
            (None, None) => args.workers.run(job, &common, gone()?, json)?,
        }
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}
