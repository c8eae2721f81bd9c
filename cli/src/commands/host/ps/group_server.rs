//! The process of a parameter server that groups of workers meet in turn.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, ensure};
use inart_host_agent::status::StatusSocket;
use inart_host_agent::{Migrator, Options, PortKind, StopSignal};
use inart_protocol_aggregation::Assignment;
use inart_ps_groups::{RackGroup, RackServer, TurnEvent};
use inart_report::{Line, TurnEnd, digest, monotonic_ns};
use inart_topologies::Switched;
use inart_topologies::units::counted;
use inart_training::{Config, Stepper};
use inart_wire::{Incarnation, ShardId};

use crate::commands::host::attachment::{Attachment, HostArgs, parse_port};
use crate::commands::host::named;
use crate::commands::host::role::GROUP_SERVER;
use crate::commands::output::{print_event, print_line};
use crate::commands::security::ClientArgs;
use crate::commands::status_socket::StatusArgs;
use crate::commands::values::duration;
use crate::line::section::Section;
use crate::line::{Invocation, OnNetwork};

/// Flags of the work of a server of groups.
#[derive(clap::Args)]
struct Work {
    /// Assignment of a group's job (JSON), as `inart apply --assignments` writes it.
    ///
    /// Repeat for each group, in round-robin order.
    #[arg(long, value_name = "FILE", required_unless_present = "controller", conflicts_with = "controller")]
    assignment: Vec<PathBuf>,
    /// Controller (HOST:PORT or unix:/path) that sends the assignments of all --job.
    #[arg(long, value_name = "ADDRESS", requires = "job")]
    controller: Option<String>,
    /// With --controller: name of a group's job; repeat for each group, in round-robin order.
    #[arg(long, value_name = "NAME", requires = "controller")]
    job: Vec<String>,
    #[command(flatten)]
    security: ClientArgs,
    /// Network interface to send and receive on.
    #[arg(long, value_name = "NAME")]
    interface: String,
    /// Packet I/O backend towards workers: batched, pnet or xdp.
    #[arg(long, value_name = "KIND", default_value = PortKind::default().name(), value_parser = parse_port)]
    port: PortKind,
    /// End the training after this long without frames from a worker that others wait for.
    #[arg(long, value_name = "TIME", default_value = "2.5s", value_parser = duration)]
    peer_timeout: Duration,
    /// Number of groups that push concurrently; the network must carry their plans together.
    #[arg(long = "concurrent-groups", value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    concurrent_groups: u16,
    /// Iterations of every group; then the server exits.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    iterations: u32,
    /// Random seed of the first weights, the same at all processes.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Exit after this long without a worker.
    #[arg(long = "join-timeout", value_name = "TIME", default_value = "600s", value_parser = duration)]
    patience: Duration,
    #[command(flatten)]
    status: StatusArgs,
}

/// A group's host, with its connection and reports to the controller.
struct Host {
    args: HostArgs,
    assignment: Assignment,
    incarnation: Incarnation,
    status: StatusSocket,
}

/// Arguments of `inart group-server`.
#[derive(clap::Args)]
pub struct Args {
    /// Part of the model to hold, from 0: shard of this server in the jobs of all groups.
    #[arg(long)]
    shard: ShardId,
    #[command(flatten)]
    work: Work,
}

/// Arguments of `inart host` for a server of groups.
#[derive(clap::Args)]
pub struct Named {
    /// The server's name in the network's document.
    #[arg(long)]
    name: String,
    #[command(flatten)]
    work: Work,
}

impl OnNetwork for Named {
    type Network = Switched;
    const SECTION: &'static Section = &GROUP_SERVER;

    fn run(self, _: Switched, invocation: &Invocation) -> anyhow::Result<ExitCode> {
        let shard =
            |assignment: &Assignment| named::server_of_assignment(assignment, &self.name).map(ShardId::from);
        run_work(&self.work, shard, invocation.json)
    }
}

/// Runs `inart group-server`.
pub fn run(args: &Args, json: bool) -> anyhow::Result<ExitCode> {
    run_work(&args.work, |_| Ok(args.shard), json)
}

fn run_work(
    args: &Work,
    shard: impl FnOnce(&Assignment) -> anyhow::Result<ShardId>,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let places = args.places();
    ensure!(
        usize::from(args.concurrent_groups) <= places.len(),
        "--concurrent-groups {}: there are {}; give at most as many",
        args.concurrent_groups,
        counted(places.len(), "group")
    );
    let own_status = args.status.listen()?;
    let (mut hosts, mut groups) = (Vec::new(), Vec::new());
    for place in places {
        let host = HostArgs::at(place);
        let assignment = host.assignment()?;
        ensure!(
            !assignment.exact_sums,
            "the assignment of job {} is of an exact-sum job, which groups cannot use; leave `sum: exact` \
             out of the topology",
            assignment.name
        );
        let status = StatusSocket::quiet();
        let options = Options {
            peer_timeout: args.peer_timeout,
            stop: Some(StopSignal::catch().context("catching signals")?),
            status: Some(status.clone()),
            ..Options::default()
        };
        let incarnation = options.incarnation;
        groups.push(RackGroup { assignment: assignment.clone(), transport: host.open_port()?, options });
        hosts.push(Host { args: host, assignment, incarnation, status });
    }
    let first = hosts.first().context("--assignment is missing; give one for each group")?;
    let shard = shard(&first.assignment)?;
    let config = Config { seed: args.seed, rank: 0, workers: 1, batch: 1 };
    let first = Stepper::new(config, 1.0)?.first_model();
    let server = RackServer::new(shard, groups, args.concurrent_groups.into(), &first, args.iterations)?;
    let mut server = server
        .with_patience(args.patience)
        .with_term("seed", Some(args.seed.to_string()))
        .with_term("iterations", Some(args.iterations.to_string()))
        .with_term("step", None)
        .with_term("batch", None);
    if let Some(socket) = own_status {
        server = server.with_status(socket);
    }
    let who = format!("server-{shard}");
    let mut kept = Vec::new();
    for (host, migrator) in hosts.iter().zip(server.migrators()) {
        kept.push(host.announce(&who, migrator)?);
    }
    if json {
        print_event(&Line::Listening)?;
    }
    let mut printed = Ok(());
    let ending = server.run(&mut |turn, version| {
        if printed.is_ok() {
            printed = match json {
                true => print_event(&event(turn, version)),
                false => sentence(turn).map_or(Ok(()), |sentence| print_line(&sentence)),
            };
        }
    })?;
    printed?;
    let frames: u64 = ending.servers.iter().map(|server| server.partials + server.gradients).sum();
    let summed: u64 = ending.servers.iter().map(|server| server.summed_in_network).sum();
    match json {
        true => print_event(&Line::Over { frames })?,
        false => print_line(&format!(
            "over: {} of {}; {frames} of gradients, in which switches had summed \
             those of {summed}",
            counted(args.iterations, "iteration"),
            counted(ending.servers.len(), "group"),
            frames = counted(frames, "frame"),
            summed = counted(summed, "worker")
        ))?,
    }
    Ok(ExitCode::SUCCESS)
}

impl Work {
    /// Returns the source of each group's assignment.
    fn places(&self) -> Vec<Attachment> {
        let place = |assignment: Option<PathBuf>, job: String| Attachment {
            assignment,
            controller: self.controller.clone(),
            job,
            security: self.security.clone(),
            interface: self.interface.clone(),
            port: self.port,
            peer_timeout: self.peer_timeout,
            status: None,
        };
        match &self.controller {
            Some(_) => self.job.iter().map(|job| place(None, job.clone())).collect(),
            None => self.assignment.iter().map(|file| place(Some(file.clone()), String::new())).collect(),
        }
    }
}

impl Host {
    /// Claims the role, follows the controller to other plans, and reports to it, until that is dropped.
    fn announce(&self, who: &str, migrator: Migrator) -> anyhow::Result<impl Sized + use<>> {
        self.args.claim(&self.assignment, who, self.incarnation)?;
        let following = self.args.follow(&self.assignment, who, self.incarnation, migrator)?;
        let watch = Some(self.status.watch());
        Ok((following, self.args.report_to_controller(&self.assignment, who, self.incarnation, watch)?))
    }
}

fn event(event: &TurnEvent, version: &[f32]) -> Line {
    let at_ns = monotonic_ns();
    match *event {
        TurnEvent::Ready { group } => Line::Ready { group, at_ns },
        TurnEvent::Begins { group, turn } => Line::Begins { group, turn, at_ns },
        TurnEvent::Ends { group, turn, staleness } => {
            Line::Ends(TurnEnd { group, turn, staleness, digest: digest(version), at_ns })
        }
    }
}

fn sentence(event: &TurnEvent) -> Option<String> {
    let TurnEvent::Ends { group, turn, staleness } = event else { return None };
    Some(format!(
        "turn {turn}: the sum of group {} is applied, {staleness} stale",
        group + 1,
        staleness = counted(*staleness, "version")
    ))
}
