//! `inart coordinator`: chooses the receivers of a job's updates.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, ensure};
use inart_host_agent::StopSignal;
use inart_peers_agent::Schemes;
use inart_peers_host::{CoordinatorEvent, CoordinatorHost};
use inart_planner_peers::{Guard, Reading, Scheme};
use inart_report::{Chosen, Line};

use crate::commands::host::peers::connections::Connections;
use crate::commands::host::peers::schedule::JobArgs;
use crate::commands::network;
use crate::commands::output::{print_event, print_line};
use crate::commands::peers::own::OwnArgs;
use crate::commands::plan::peers::scheme;
use crate::commands::status_socket::StatusArgs;
use crate::commands::values::duration;

/// Arguments of `inart coordinator`.
#[derive(clap::Args)]
pub struct Args {
    /// Network (YAML or JSON), the same at all processes.
    network: PathBuf,
    #[command(flatten)]
    job: JobArgs,
    #[command(flatten)]
    connections: Connections,
    /// Scheme that chooses receivers.
    #[arg(long, default_value = Scheme::Optimized.name(), value_parser = scheme())]
    scheme: Scheme,
    #[command(flatten)]
    own: OwnArgs,
    /// Random seed of receivers.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// With --scheme selmcast: skip the second pass, which adds receivers that cost no time.
    #[arg(long)]
    first_pass_only: bool,
    /// With --sync ssp: part of an update, below which a receiver is no longer withdrawn.
    #[arg(long = "finish-threshold", default_value_t = 0.75)]
    finish_threshold: f64,
    /// With --sync ssp: a further receiver must not break the deadline of any multicast.
    #[arg(long)]
    guard_all: bool,
    /// Rounds to train, the same number at all peers.
    #[arg(long, default_value_t = 100)]
    rounds: u32,
    /// Start without missing participants after this long.
    #[arg(long = "join-timeout", default_value = "60s", value_name = "TIME", value_parser = duration)]
    gather: Duration,
    /// Exit after this long without a connected peer.
    #[arg(long = "idle-timeout", default_value = "600s", value_name = "TIME", value_parser = duration)]
    patience: Duration,
    #[command(flatten)]
    status: StatusArgs,
}

/// Runs `inart coordinator`.
pub fn run(args: &Args, json: bool) -> anyhow::Result<ExitCode> {
    ensure!(args.rounds > 0, "--rounds 0: give at least 1");
    let mesh = network::peers(&args.network)?;
    let job = args.job.job(&mesh, args.rounds)?;
    ensure!(
        (0.0..=1.0).contains(&args.finish_threshold),
        "--finish-threshold {}: give a part from 0 to 1",
        args.finish_threshold
    );
    let setup = job.coordinator_setup(args.gather);
    ensure!(
        args.scheme != Scheme::Optimal || setup.sync == inart_peers_agent::Sync::Bsp,
        "--scheme optimal plans whole rounds only; give --sync bsp, or one of optimized, selmcast, orpheus"
    );
    let reading = Reading {
        eta: args.finish_threshold,
        second_pass: !args.first_pass_only,
        guard: if args.guard_all { Guard::All } else { Guard::Own },
        ..Reading::default()
    };
    let given = args.job.given(&mesh, &args.network, &args.own)?;
    let schemes = Schemes::new(args.scheme, reading, args.seed, job.name()).following(given);
    let options = args.connections.options(&[])?;
    let stop = StopSignal::catch().context("catching signals")?;
    let patience = args.patience;
    let status = args.status.listen()?;
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let host = CoordinatorHost::open(&job, setup, schemes, &args.connections.name, options)?;
        let mut host = host.with_stop(stop).with_patience(patience);
        if let Some(socket) = status {
            host = host.with_status(socket);
        }
        // Peers need the coordinator even after the reader of its output has closed the pipe.
        host.run(|event| drop(if json { print_event(&line(event)) } else { print_line(&words(&event)) }))
            .await?;
        Ok(ExitCode::SUCCESS)
    })
}

fn line(event: CoordinatorEvent) -> Line {
    match event {
        CoordinatorEvent::InCharge { term, peers } => Line::InCharge { term: term.number, peers },
        CoordinatorEvent::Chosen { from, round, to, rate_bps } => {
            Line::Chosen(Chosen { from, round, to, rate_bps })
        }
        CoordinatorEvent::NotChosen { why } => Line::SelectionFailed { reason: why },
        CoordinatorEvent::OtherJob { peer } => Line::OtherJob { other_job: peer },
    }
}

fn words(event: &CoordinatorEvent) -> String {
    match event {
        CoordinatorEvent::InCharge { term, peers } => format!("in charge ({term}): {}", peers.join(" ")),
        CoordinatorEvent::Chosen { from, round, to, rate_bps } => {
            format!("round {round} of {from}: to {} at {:.1} Mbps", to.join(" "), rate_bps / 1e6)
        }
        CoordinatorEvent::NotChosen { why } => format!("no receivers were chosen, the last ones stay: {why}"),
        CoordinatorEvent::OtherJob { peer } => {
            format!("{peer} is refused: it has other settings, which its error and this process's log name")
        }
    }
}
