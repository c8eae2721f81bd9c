//! `inart worker`.

mod elastic;
mod summary;
mod workload;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context;
use inart_core::Assignment;
use inart_host_agent::report::{Report, Role, RoundReport};
use inart_host_agent::status::StatusSocket;
use inart_host_agent::{RoundStats, Worker};
use inart_wire::Rank;

use super::host::{HostArgs, Output};
use summary::Summary;
pub use workload::parse_part;
use workload::{Workload, WorkloadArgs};

/// Progress is printed this often.
const PROGRESS: Duration = Duration::from_secs(5);

/// Arguments of `inart worker`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    host: HostArgs,
    /// This worker's rank, counted from 0. In an elastic job, its place in the topology's list of the job's
    /// workers.
    #[arg(long)]
    rank: Rank,
    /// Rounds to run; every worker runs as many.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    #[command(flatten)]
    workload: WorkloadArgs,
}

/// Runs the command: the workload's rounds, one all-reduce each.
pub fn run(args: Args, json: bool) -> anyhow::Result<ExitCode> {
    args.host.run(json, |assignment, options, output| {
        if args.host.is_elastic()? {
            anyhow::ensure!(
                !args.workload.has_part(),
                "--part: workers of an elastic job change their places"
            );
            let host = args.host.elastic(format!("worker-{}", args.rank), options.status)?;
            let place = (assignment.job, args.rank);
            return elastic::run(host, &args.workload, place, args.rounds, output);
        }
        let mut workload = args.workload.build(assignment.workers.len(), args.rank)?;
        let role = Role::Worker(assignment.job, args.rank);
        assignment.worker(args.rank)?;
        let port = args.host.open_port()?;
        // A second run of this rank must not be heard as the first.
        let (who, life) = (format!("worker-{}", args.rank), options.incarnation);
        args.host.claim(&assignment, &who, life)?;
        let watch = options.status.as_ref().map(StatusSocket::watch);
        let mut worker = Worker::with_options(assignment.clone(), args.rank, port, options)?;
        let _following = args.host.follow(&assignment, &who, life, worker.mover())?;
        let _reporting = args.host.report_to_controller(&assignment, &who, life, watch)?;
        output.hello(role)?;
        output.wait_for_start()?;
        run_rounds(&args, &assignment, &mut workload, &mut worker, output)
    })
}

fn run_rounds(
    args: &Args,
    assignment: &Assignment,
    workload: &mut Workload,
    worker: &mut Worker,
    output: &mut Output,
) -> anyhow::Result<()> {
    let mut comm_seconds = Vec::new();
    let mut retransmissions = 0;
    let mut gradient = vec![0.0; workload.gradient_len()];
    let mut progress_at = Instant::now() + PROGRESS;
    for round in 0..args.rounds {
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
            eprintln!("worker {}: round {} of {}{loss}", args.rank, round + 1, args.rounds);
        }
    }
    let trained = workload.finish();
    output.report(|| Report::Done { trained: trained.clone() })?;
    let summary = Summary { rank: args.rank, rounds: args.rounds, comm_seconds, retransmissions, trained };
    output.summary(&summary, || summary.text())
}

fn round_report(worker: &Worker, stats: RoundStats) -> Report {
    Report::Round(RoundReport::new(stats, worker.record().expect("a round has ended")))
}
