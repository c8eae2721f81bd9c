//! Measurements of a run.

use std::collections::BTreeMap;
use std::time::Duration;

use inart_topologies::ps::Job;

use super::options::{AgentOptions, Sync};
use super::outcome::{AgentRun, FaultRecord};
use super::training::Trainer;
use crate::statistics::mean;

/// Rounds of each group that are not counted, at the start.
const DROPPED: usize = 3;

/// Returns the outcome of a run that is over.
pub fn run<B>(
    job: &Job,
    options: &AgentOptions,
    staleness_bound: Option<u64>,
    now: Duration,
    trainer: &Trainer<'_, B>,
    lost_messages: u64,
    faults: Vec<FaultRecord>,
) -> AgentRun {
    let audit = &trainer.audit;
    let stale: Vec<f64> = audit.stalenesses.iter().map(|stale| *stale as f64).collect();
    let iteration_s = match options.sync {
        Sync::Order(_) => {
            let first = (options.iterations / 3) as usize;
            let arrived = trainer.arrived.iter().map(|(at, worker)| (*worker, *at));
            between(arrived, job.participants.len(), first)
        }
        Sync::Groups { groups, .. } => {
            let of_group =
                |applied: &super::training::Applied| Some((applied.updates.first()?.0 % groups, applied.at));
            between(trainer.applied.iter().filter_map(of_group), groups, DROPPED - 1)
        }
    };
    let (server, workers) = (&trainer.server, &trainer.workers);
    AgentRun {
        sync: options.sync.name(),
        iteration_s,
        seconds: now.as_secs_f64(),
        versions: audit.versions,
        updates: audit.updates,
        values_compared: audit.values,
        staleness: mean(&stale),
        staleness_most: audit.stalenesses.iter().copied().max().unwrap_or(0),
        staleness_bound,
        wasted_updates: audit.wasted_updates,
        lost_updates: audit.lost,
        given_up: trainer.given_up,
        kills: trainer.kills,
        disconnected: trainer.disconnected,
        lost_messages,
        sent_again: workers.sent_again,
        dropped: server.repeated
            + server.unasked
            + server.stale_incarnation
            + workers.repeated
            + workers.superseded
            + workers.stale_incarnation,
        faults,
    }
}

/// Returns the mean over all participants of the mean time between own events, from the `first` on, in
/// seconds.
fn between(events: impl Iterator<Item = (usize, Duration)>, count: usize, first: usize) -> f64 {
    let mut own: BTreeMap<usize, Vec<Duration>> = (0..count).map(|who| (who, Vec::new())).collect();
    events.for_each(|(who, at)| own.entry(who).or_default().push(at));
    let interval = |own: &Vec<Duration>| {
        let (from, to) = (own.get(first)?, own.last()?);
        let intervals = own.len() - 1 - first;
        (intervals > 0).then(|| (*to - *from).as_secs_f64() / intervals as f64)
    };
    mean(&own.values().filter_map(interval).collect::<Vec<_>>())
}
