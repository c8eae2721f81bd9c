//! A worker of an elastic job, whose set of workers may change while it runs.

use anyhow::Context;
use inart_elastic::{ElasticWorker, Event, Host};
use inart_host_agent::report::{Report, Role, RoundReport};
use inart_report::{Line, WorkerEnd};
use inart_wire::{JobId, Rank};

use crate::commands::host::aggregation::worker::summary;
use crate::commands::host::aggregation::worker::workload::{Workload, WorkloadArgs};
use crate::commands::host::attachment::Output;

/// Runs the workload's rounds with the workers that are connected. `place`: the worker's name in the job's
/// list.
pub fn run(
    host: Host,
    workload: &WorkloadArgs,
    (job, place): (JobId, Rank),
    rounds: u32,
    output: &mut Output,
) -> anyhow::Result<()> {
    let host = if output.is_audited() { host.recorded() } else { host };
    output.hello(Role::Worker(job, place))?;
    output.wait_for_start()?;
    let mut worker = ElasticWorker::join(host)?;
    let member = worker.membership();
    let mut workload = workload.build(member.workers.len(), member.rank)?;
    let mut gradient = vec![0.0; workload.gradient_len()];
    let (mut comm_seconds, mut retransmissions) = (Vec::new(), 0);
    load(&mut worker, &mut workload, output)?;
    while worker.rounds() < rounds.into() {
        let round = u32::try_from(worker.rounds()).context("too many rounds")?;
        let loss = workload.gradient(round, &mut gradient);
        match worker.all_reduce(&mut gradient) {
            Ok(stats) => {
                comm_seconds.push(stats.communication.as_secs_f64());
                retransmissions += stats.counters.retransmissions;
                tell(&mut worker, output)?;
                let audited = output.is_audited();
                workload.apply(round, worker.assignment(), &gradient, audited)?;
                if let Some(loss) = loss {
                    output.report(|| Report::Training { round, loss })?;
                }
            }
            Err(error) if error.is_membership() => {
                tracing::warn!("round {round}: {error}");
                load(&mut worker, &mut workload, output)?;
            }
            Err(error) => return Err(error).with_context(|| format!("round {round}")),
        }
    }
    if let Err(error) = worker.finish() {
        tracing::warn!("the controller does not know that this worker is done: {error}");
    }
    let trained = workload.finish();
    output.report(|| Report::Done { trained: trained.clone() })?;
    let rounds = comm_seconds.len() as u32;
    let end = WorkerEnd { rank: place.get(), rounds, comm_seconds, retransmissions, trained };
    let text = summary::text(&end);
    output.end(&Line::WorkerEnded(end), || text)
}

/// Loads the newest state, and notes this worker's rank among the connected workers.
fn load(worker: &mut ElasticWorker, workload: &mut Workload, output: &mut Output) -> anyhow::Result<()> {
    let mut state = workload.state();
    worker.load(&mut state)?;
    tell(worker, output)?;
    workload.load(&state, worker.rounds());
    let member = worker.membership();
    workload.set_rank(member.rank.index(), member.workers.len())
}

/// Reports the runs that began and the sums that were complete since the last report.
fn tell(worker: &mut ElasticWorker, output: &mut Output) -> anyhow::Result<()> {
    for event in worker.events() {
        output.report(|| match event {
            Event::Run(assignment, rank) => Report::Run(Box::new(assignment), rank),
            Event::Sum(stats, record) => Report::Round(RoundReport::new(stats, record)),
        })?;
    }
    Ok(())
}
