//! Report of a run of workers.

use std::collections::BTreeMap;

use inart_protocol_ps::{Server, SyncModel, Update, WorkerNo};
use inart_topologies::ps::Job;
use serde::Serialize;

use super::clock::seconds;
use crate::statistics::{mean, quantile};

/// A gap below this part of the even one counts as zero.
const ZERO_GAP: f64 = 0.1;

/// Reported quantiles, by name.
const QUANTILES: [(&str, f64); 5] =
    [("0.05", 0.05), ("0.25", 0.25), ("0.5", 0.5), ("0.75", 0.75), ("0.95", 0.95)];

/// Staleness of updates.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Staleness {
    /// Mean over the updates that count: versions of the model between pull and application.
    pub mean: f64,
    /// Maximum over all updates.
    pub max: u64,
    /// Updates by staleness, over those that count.
    pub counts: BTreeMap<u64, u64>,
}

/// A run of workers. Its first third is not counted, except for `blocking_s` and the greatest staleness.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorkerRun {
    /// Name of the synchronization model.
    pub sync: &'static str,
    /// Mean over workers of the time between arrivals of their own pushes, in seconds.
    pub iteration_s: f64,
    /// Part of the gaps between pushes that is below a tenth of iteration / workers.
    pub bunched_arrivals: f64,
    /// Quantiles of the gaps between arrivals of pushes at the server, in seconds.
    pub gap_quantiles_s: BTreeMap<&'static str, f64>,
    /// Staleness of updates.
    pub staleness: Staleness,
    /// Mean wait of a worker per iteration, from the arrival of its push to its pull, in seconds.
    pub blocking_s: f64,
    /// Mean wait per iteration by worker, in seconds.
    pub blockings_s: BTreeMap<String, f64>,
    /// Last batch of each worker.
    pub batches: BTreeMap<String, u32>,
    /// r at the end; 0 for synchronization models without gaps.
    pub relaxation: f64,
    /// Mean time of a push, in seconds.
    pub push_s: f64,
    /// Mean time of a pull, in seconds.
    pub pull_s: f64,
    /// Utilization of the rate into the server, from 0 to 1.
    pub utilization_in: f64,
    /// Utilization of the rate out of the server, from 0 to 1.
    pub utilization_out: f64,
    /// Length of the run in virtual time, in seconds.
    pub seconds: f64,
    /// Pushes that were accepted.
    pub pushes: u64,
    /// Samples of all applied updates.
    pub samples: u64,
    /// Workers that timed out.
    pub given_up: u64,
    /// Rates at the server's port over time, in bit/s: into it and out of it; empty unless asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub usage_bps: Vec<[f64; 2]>,
}

/// Notes during a run. The first third of each worker's iterations is not counted.
pub struct Record {
    iterations: u64,
    /// Arrivals: time, worker, and the number of the worker's push.
    pushes: Vec<(f64, usize, u64)>,
    by_worker: Vec<u64>,
    /// Iteration and staleness of each update.
    staleness: Vec<(u64, u64)>,
    samples: u64,
    /// By worker: start of its transfer.
    begun_s: Vec<f64>,
    /// Durations of pushes and of pulls that arrived.
    took_s: [Vec<f64>; 2],
}

impl Record {
    pub fn new(workers: usize, iterations: u32) -> Self {
        Record {
            iterations: u64::from(iterations),
            pushes: Vec::new(),
            by_worker: vec![0; workers],
            staleness: Vec::new(),
            samples: 0,
            begun_s: vec![0.0; workers],
            took_s: [Vec::new(), Vec::new()],
        }
    }

    /// Returns whether a worker's iteration counts.
    fn counts(&self, iteration: u64) -> bool {
        iteration >= self.iterations / 3
    }

    pub fn push(&mut self, at_s: f64, worker: usize) {
        self.pushes.push((at_s, worker, self.by_worker[worker]));
        self.by_worker[worker] += 1;
    }

    pub fn apply(&mut self, update: &Update) {
        self.staleness.push((update.iteration, update.staleness));
        self.samples += u64::from(update.batch);
    }

    /// Takes note of the start of a worker's transfer.
    pub fn begins(&mut self, worker: usize, now_s: f64) {
        self.begun_s[worker] = now_s;
    }

    /// Takes note of the arrival of a worker's transfer.
    pub fn arrived(&mut self, worker: usize, is_push: bool, now_s: f64) {
        if self.counts(self.by_worker[worker]) {
            self.took_s[usize::from(!is_push)].push(now_s - self.begun_s[worker]);
        }
    }

    pub fn is_done(&self, worker: usize) -> bool {
        self.by_worker[worker] >= self.iterations
    }

    pub fn pushes(&self) -> u64 {
        self.pushes.len() as u64
    }

    pub fn report(
        self,
        job: &Job,
        server: &Server<SyncModel>,
        sync: &'static str,
        length_s: f64,
        utilization: [f64; 2],
    ) -> WorkerRun {
        let iteration_s = self.iteration_s();
        // A gap belongs to the push that ends it.
        let pairs = self.pushes.windows(2).filter(|pair| self.counts(pair[1].2));
        let mut gaps: Vec<f64> = pairs.map(|pair| pair[1].0 - pair[0].0).collect();
        gaps.sort_by(f64::total_cmp);
        let least = ZERO_GAP * iteration_s / job.participants.len() as f64;
        let zero = gaps.iter().filter(|gap| **gap < least).count();
        let names = job.participants.iter().map(|worker| worker.name.clone());
        let numbers = || (0..job.participants.len() as u32).map(WorkerNo);
        let blocked: Vec<_> = numbers().map(|worker| server.blocked(worker)).collect();
        let total: f64 = blocked.iter().map(|blocked| seconds(blocked.total)).sum();
        let pulls: u64 = blocked.iter().map(|blocked| blocked.pulls).sum();
        let each = blocked.iter().map(|blocked| seconds(blocked.total) / blocked.pulls.max(1) as f64);
        WorkerRun {
            sync,
            iteration_s,
            bunched_arrivals: zero as f64 / gaps.len().max(1) as f64,
            gap_quantiles_s: QUANTILES.map(|(name, part)| (name, quantile(&gaps, part))).into(),
            staleness: self.stalenesses(),
            blocking_s: total / pulls.max(1) as f64,
            blockings_s: names.clone().zip(each).collect(),
            batches: names.zip(numbers().map(|worker| server.batch(worker))).collect(),
            relaxation: server.relaxation().as_f64(),
            push_s: mean(&self.took_s[0]),
            pull_s: mean(&self.took_s[1]),
            utilization_in: utilization[0],
            utilization_out: utilization[1],
            seconds: length_s,
            pushes: self.pushes.len() as u64,
            samples: self.samples,
            given_up: server.counters().silent,
            usage_bps: Vec::new(),
        }
    }

    /// Returns the mean over workers of the mean time between own pushes that count.
    fn iteration_s(&self) -> f64 {
        let mut ends: Vec<Option<(f64, f64, u64)>> = vec![None; self.by_worker.len()];
        for &(at_s, worker, iteration) in self.pushes.iter().filter(|push| self.counts(push.2)) {
            ends[worker] = match ends[worker] {
                None => Some((at_s, at_s, iteration)),
                Some((first_s, _, first)) => Some((first_s, at_s, first)),
            };
        }
        let mean_of = |(worker, ends): (usize, &Option<(f64, f64, u64)>)| {
            let (first_s, last_s, first) = (*ends)?;
            let intervals = self.by_worker[worker] - 1 - first;
            (intervals > 0).then(|| (last_s - first_s) / intervals as f64)
        };
        mean(&ends.iter().enumerate().filter_map(mean_of).collect::<Vec<_>>())
    }

    fn stalenesses(&self) -> Staleness {
        staleness_of(&self.staleness, |iteration| self.counts(iteration))
    }
}

/// Returns the staleness of updates whose iteration counts, and the maximum of all. `all`: iterations and
/// stalenesses.
pub fn staleness_of(all: &[(u64, u64)], counts_at: impl Fn(u64) -> bool) -> Staleness {
    let counted = || all.iter().filter(|(at, _)| counts_at(*at)).map(|(_, stale)| *stale);
    let mut counts = BTreeMap::new();
    counted().for_each(|stale| *counts.entry(stale).or_insert(0) += 1);
    let values: Vec<f64> = counted().map(|stale| stale as f64).collect();
    let max = all.iter().map(|(_, stale)| *stale).max().unwrap_or(0);
    Staleness { mean: mean(&values), max, counts }
}
