//! The process of a worker whose gradients the network sums.

mod elastic;
mod summary;
mod workload;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context;
use inart_host_agent::report::{Report, Role, RoundReport};
use inart_host_agent::status::StatusSocket;
use inart_host_agent::{RoundStats, Worker};
use inart_protocol_aggregation::Assignment;
use inart_report::{Line, WorkerEnd};
use inart_topologies::Network;
use inart_wire::Rank;

use crate::commands::host::attachment::{HostArgs, Output};
use crate::commands::host::named;
use crate::commands::host::role::WORKER;
use crate::line::section::Section;
use crate::line::{Invocation, OnNetwork};
pub use workload::parse_part;
use workload::{Workload, WorkloadArgs};

/// Progress is printed this often.
const PROGRESS: Duration = Duration::from_secs(5);

/// Flags of a worker's work.
#[derive(clap::Args)]
struct Work {
    #[command(flatten)]
    host: HostArgs,
    /// Rounds to run, the same number at every worker.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    #[command(flatten)]
    workload: WorkloadArgs,
}

/// Arguments of `inart worker`.
#[derive(clap::Args)]
pub struct Args {
    /// Rank of the worker, from 0; for an elastic job, index in the job's list of workers.
    #[arg(long)]
    rank: Rank,
    #[command(flatten)]
    work: Work,
}

/// Arguments of `inart host` for a worker.
#[derive(clap::Args)]
pub struct Named {
    /// The worker's name in the network's document.
    #[arg(long)]
    name: String,
    #[command(flatten)]
    work: Work,
}

impl OnNetwork for Named {
    type Network = Network;
    const SECTION: &'static Section = &WORKER;

    fn run(self, network: Network, invocation: &Invocation) -> anyhow::Result<ExitCode> {
        let rank = |assignment: &Assignment, is_elastic: bool| {
            let place = match is_elastic {
                true => named::worker_of_document(&network, &self.name, &assignment.name),
                false => named::worker_of_assignment(assignment, &self.name),
            }?;
            Ok(Rank::try_from(place)?)
        };
        run_work(&self.work, rank, invocation.json)
    }
}

/// Runs `inart worker`.
pub fn run(args: Args, json: bool) -> anyhow::Result<ExitCode> {
    run_work(&args.work, |_, _| Ok(args.rank), json)
}

/// Runs the workload's rounds, one all-reduce each. `rank` returns the worker's rank by its assignment, and
/// whether the job is elastic.
fn run_work(
    args: &Work,
    rank: impl FnOnce(&Assignment, bool) -> anyhow::Result<Rank>,
    json: bool,
) -> anyhow::Result<ExitCode> {
    args.host.run(json, |assignment, options, output| {
        let is_elastic = args.host.is_elastic()?;
        let rank = rank(&assignment, is_elastic)?;
        if is_elastic {
            anyhow::ensure!(
                !args.workload.has_part(),
                "--data-shard: workers of an elastic job change their places"
            );
            let host = args.host.elastic(format!("worker-{rank}"), options.status)?;
            let place = (assignment.job, rank);
            return elastic::run(host, &args.workload, place, args.rounds, output);
        }
        let mut workload = args.workload.build(assignment.workers.len(), rank)?;
        let role = Role::Worker(assignment.job, rank);
        assignment.worker(rank)?;
        let port = args.host.open_port()?;
        // A second run of this rank must not be heard as the first.
        let (who, incarnation) = (format!("worker-{rank}"), options.incarnation);
        args.host.claim(&assignment, &who, incarnation)?;
        let watch = options.status.as_ref().map(StatusSocket::watch);
        let mut worker = Worker::with_options(assignment.clone(), rank, port, options)?;
        let _following = args.host.follow(&assignment, &who, incarnation, worker.migrator())?;
        let _reporting = args.host.report_to_controller(&assignment, &who, incarnation, watch)?;
        output.hello(role)?;
        output.wait_for_start()?;
        run_rounds((args.rounds, rank), &assignment, &mut workload, &mut worker, output)
    })
}

fn run_rounds(
    (rounds, rank): (u32, Rank),
    assignment: &Assignment,
    workload: &mut Workload,
    worker: &mut Worker,
    output: &mut Output,
) -> anyhow::Result<()> {
    let mut comm_seconds = Vec::new();
    let mut retransmissions = 0;
    let mut gradient = vec![0.0; workload.gradient_len()];
    let mut progress_at = Instant::now() + PROGRESS;
    for round in 0..rounds {
        let loss = workload.gradient(round, &mut gradient);
        let stats = worker.all_reduce(&mut gradient).with_context(|| format!("round {round}"))?;
        comm_seconds.push(stats.communication.as_secs_f64());
        retransmissions += stats.counters.retransmissions;
        output.report(|| round_report(worker, stats))?;
        let audited = output.is_audited();
        workload.apply(round, assignment, &gradient, audited)?;
        if let Some(loss) = loss {
            output.report(|| Report::Training { round, loss })?;
        }
        if !output.is_audited() && Instant::now() >= progress_at {
            progress_at = Instant::now() + PROGRESS;
            let loss = loss.map_or_else(String::new, |loss| format!(", loss {loss:.4}"));
            eprintln!("worker {}: round {} of {}{loss}", rank, round + 1, rounds);
        }
    }
    let trained = workload.finish();
    output.report(|| Report::Done { trained: trained.clone() })?;
    let end = WorkerEnd { rank: rank.get(), rounds, comm_seconds, retransmissions, trained };
    let text = summary::text(&end);
    output.end(&Line::WorkerEnded(end), || text)
}

fn round_report(worker: &Worker, stats: RoundStats) -> Report {
    Report::Round(RoundReport::new(stats, worker.record().expect("a round has ended")))
}
