//! `inart controller`: the controller as a daemon.

mod follow;

use std::future::pending;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use follow::FollowArgs;
use inart_controller::api::{self, Listener};
use inart_controller::daemon::{self, Config, State};
use inart_controller::membership::Timing;
use inart_controller::{JobPlan, Records};
use inart_planner_aggregation::{Options, Plan, Scheme, plan_all, schemes};
use inart_targets::Precedence;
use inart_topologies::peers::Mesh;
use inart_topologies::switched::Topology;
use tokio::signal::unix::{SignalKind, signal};

use crate::commands::apply::aggregation::Settings;
use crate::commands::control::{ControlArgs, SwitchNetwork};
use crate::commands::network;
use crate::commands::security::ListenArgs;
use crate::commands::values::duration;

/// Arguments of `inart controller`.
#[derive(clap::Args)]
pub struct Args {
    /// Topology (YAML or JSON) of a network of switches or of peers.
    topology: PathBuf,
    /// Plan to install (JSON, of one job or several), as `inart plan --json` prints it.
    ///
    /// Repeat for further plans [default: the active plans if the topology is unchanged, else new plans of
    /// all jobs].
    #[arg(long, value_name = "PLAN")]
    plan: Vec<PathBuf>,
    /// Network of peers (YAML or JSON) whose updates the switches copy [default: the active one].
    #[arg(long, value_name = "NETWORK")]
    peers: Option<PathBuf>,
    /// Scheme of new plans.
    #[arg(long, default_value = schemes::DEFAULT.name(), value_parser = crate::commands::scheme::parser(), conflicts_with = "plan")]
    scheme: &'static dyn Scheme,
    /// Random seed of new plans.
    #[arg(long, default_value_t = 1, conflicts_with = "plan")]
    seed: u64,
    /// Address for hosts and clients: HOST:PORT or unix:/path; port 0 picks a free port.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9558")]
    listen: String,
    #[command(flatten)]
    security: ListenArgs,
    /// Wait this long for further switches after the first one answers at the start.
    ///
    /// Then the controller installs the plans without the missing switches.
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = duration)]
    switches_within: Duration,
    /// Time between checks of the switches' tables; differences are repaired.
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = duration)]
    check_every: Duration,
    /// Longest duration of a plan change; then the controller undoes the change.
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = duration)]
    change_within: Duration,
    /// Elastic jobs: start without missing hosts after this long.
    #[arg(long = "join-timeout", value_name = "TIME", default_value = "10s", value_parser = duration)]
    gather_within: Duration,
    /// Elastic jobs: after an abort, resume without missing hosts after this long.
    #[arg(long = "rejoin-timeout", value_name = "TIME", default_value = "3s", value_parser = duration)]
    rejoin_timeout: Duration,
    /// Remove jobs that are no longer in the topology, unless their frames are in flight.
    #[arg(long)]
    remove_departed: bool,
    #[command(flatten)]
    follow: FollowArgs,
    #[command(flatten)]
    settings: Settings,
    #[command(flatten)]
    control: ControlArgs,
}

/// Runs the command: a daemon until SIGTERM or SIGINT, which leave everything installed.
pub fn run(args: Args, json: bool) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(serve(&args, json))?;
    Ok(ExitCode::SUCCESS)
}

async fn serve(args: &Args, json: bool) -> anyhow::Result<()> {
    // From here on signals end the controller in order.
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let network = SwitchNetwork::read(&args.topology)?;
    let peers = args.peers(network.peers)?;
    let topology = network.topology;
    let mut records = crate::commands::control::open_records(&args.control.state(), topology.name())?;
    // Quick checks run before the planner, which may take minutes.
    let precedence =
        args.control.election_id.map_or_else(daemon::precedence_of_now, |id| Precedence(id.into()));
    let switches = args.control.places(&topology, &mut records)?;
    let values = args.control.values(args.settings.values, &topology, peers.is_some(), &records)?;
    let program = args.control.program_for(values, peers.as_ref(), &records)?;
    let tls = args.security.tls()?;
    let listener =
        Listener::bind(&args.listen, args.security.allows_any_address()).await.context("--listen")?;
    let jobs = args.jobs(&topology, &records)?;
    announce(&listener.address()?, json);

    let addresses = switches.iter().map(|(name, place)| (name.as_str(), place.address.as_str()));
    let state = Arc::new(State::new(topology.name(), addresses));
    let config = Config {
        peers,
        topology,
        jobs,
        program,
        switches,
        precedence,
        records,
        replace_program: args.control.replace_program,
        switches_within: args.switches_within,
        check_every: args.check_every,
        change_within: args.change_within,
        timing: Timing {
            gather_within: args.gather_within,
            rejoin_timeout: args.rejoin_timeout,
            ..Timing::default()
        },
        remove_departed: args.remove_departed,
        chance: daemon::by_chance(),
        steer: args.follow.steer(args.scheme),
    };
    tokio::select! {
        ended = daemon::run(config, state.clone()) => match ended? {},
        served = api::serve(listener, tls, state, pending()) => Ok(served?),
        _ = terminate.recv() => Ok(()),
        _ = interrupt.recv() => Ok(()),
    }
}

impl Args {
    /// Returns the network of peers to install: the one of `--peers`, or else the controller's own network.
    fn peers(&self, own: Option<Mesh>) -> anyhow::Result<Option<Mesh>> {
        match &self.peers {
            Some(path) => {
                ensure!(
                    own.is_none(),
                    "--peers {}: TOPOLOGY is a network of peers; name one",
                    path.display()
                );
                Ok(Some(network::peers(path).context("--peers")?))
            }
            None => Ok(own),
        }
    }

    /// Returns the plans to install: the given ones, the active ones, or new ones.
    fn jobs(&self, topology: &Topology, records: &Records) -> anyhow::Result<Vec<JobPlan>> {
        let mut read = Vec::new();
        for file in &self.plan {
            let place = file.display().to_string();
            read.extend(
                crate::commands::plan::aggregation::read_all(topology, file)?
                    .into_iter()
                    .map(|plan| (plan, place.clone())),
            );
        }
        if self.plan.is_empty() {
            let plans = self.in_force(topology, records).map_or_else(|| self.make(topology), Ok)?;
            read.extend(plans.into_iter().map(|plan| (plan, format!("topology {}", topology.name()))));
        }
        read.into_iter().map(|(plan, place)| self.settings.job_plan(topology, plan, &place)).collect()
    }

    /// Returns the plans that an earlier controller installed with these settings, if every job has one.
    fn in_force(&self, topology: &Topology, records: &Records) -> Option<Vec<Plan>> {
        let document = topology.to_yaml();
        let live = topology.jobs().iter().map(|job| {
            // A job whose plan has changed since resumes with the last plan.
            let pushes = records.jobs.values().filter_map(|record| record.began());
            let mut same = pushes.filter(|push| {
                let plan = &push.plan;
                plan.job == job.name
                    && push.is_on(&document)
                    && (plan.scheme.as_str(), plan.seed) == (self.scheme.name(), self.seed)
            });
            Some(same.next()?.plan.clone())
        });
        live.collect()
    }

    fn make(&self, topology: &Topology) -> anyhow::Result<Vec<Plan>> {
        let options = Options { seed: self.seed, ..Options::new(self.scheme) };
        tracing::info!(jobs = topology.jobs().len(), scheme = self.scheme.name(), "planning");
        Ok(plan_all(topology, &options)?)
    }
}

/// Prints the address as the first line on standard output, for users that chose port 0.
#[allow(clippy::print_stdout)]
fn announce(address: &str, json: bool) {
    match json {
        true => println!("{}", serde_json::json!({ "address": address })),
        false => println!("listening on {address}"),
    }
}
