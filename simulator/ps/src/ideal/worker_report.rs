//! What came out of a run of workers.

use std::collections::BTreeMap;

use inart_protocol_ps::{Server, SyncModel, Update, WorkerNo};
use inart_topologies::ps::Job;
use serde::Serialize;

use super::clock::seconds;
use crate::statistics::{mean, quantile};

/// A gap counts as none below this part of the even one.
const ZERO_GAP: f64 = 0.1;

/// Quantiles that are told, by name.
const QUANTILES: [(&str, f64); 5] =
    [("0.05", 0.05), ("0.25", 0.25), ("0.5", 0.5), ("0.75", 0.75), ("0.95", 0.95)];

/// How stale updates were.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Staleness {
    /// Over the updates that count: versions of the model between pull and application.
    pub mean: f64,
    /// Over all updates.
    pub max: u64,
    /// Updates by staleness, over those that count.
    pub counts: BTreeMap<u64, u64>,
}

/// A run of workers. Its first third is not counted, but for `blocking_s` and the greatest staleness.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorkerRun {
    /// The policy.
    pub sync: &'static str,
    /// Mean over workers of the time between arrivals of their own pushes, in seconds.
    pub iteration_s: f64,
    /// The part of the gaps between pushes that is below a tenth of iteration / workers.
    pub bunched_arrivals: f64,
    /// Quantiles of the gaps between arrivals of pushes at the server, in seconds.
    pub gap_quantiles_s: BTreeMap<&'static str, f64>,
    /// How stale updates were.
    pub staleness: Staleness,
    /// What a worker waited per iteration, from the arrival of its push to its pull, in seconds.
    pub blocking_s: f64,
    /// The same by worker.
    pub blockings_s: BTreeMap<String, f64>,
    /// The batch that each worker was given last.
    pub batches: BTreeMap<String, u32>,
    /// r as it was at the end; 0 of policies without gaps.
    pub relaxation: f64,
    /// Mean time of a push, in seconds.
    pub push_s: f64,
    /// Mean time of a pull, in seconds.
    pub pull_s: f64,
    /// The part of the server's rate that was used: into it.
    pub utilisation_in: f64,
    /// The same out of it.
    pub utilisation_out: f64,
    /// The run's length in virtual time, in seconds.
    pub seconds: f64,
    /// Pushes that were taken.
    pub pushes: u64,
    /// Samples that were computed in all updates that were applied.
    pub samples: u64,
    /// Workers that the server gave up.
    pub given_up: u64,
    /// Rates at the server's port over time, in bit/s: into it and out of it; empty unless asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub usage_bps: Vec<[f64; 2]>,
}

/// What is noted while a run goes on. The first third of each worker's iterations is not counted.
pub struct Record {
    iterations: u64,
    /// Arrivals: when, whose, and its how manieth.
    pushes: Vec<(f64, usize, u64)>,
    by_worker: Vec<u64>,
    /// Of which iteration an update was, and how stale.
    staleness: Vec<(u64, u64)>,
    samples: u64,
    /// By worker: when its transfer began.
    begun_s: Vec<f64>,
    /// Of pushes and of pulls that arrived: how long they took.
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

    /// Whether a worker's so manieth iteration counts.
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

    /// A worker's transfer begins.
    pub fn begins(&mut self, worker: usize, now_s: f64) {
        self.begun_s[worker] = now_s;
    }

    /// A worker's transfer has arrived.
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
        utilisation: [f64; 2],
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
            utilisation_in: utilisation[0],
            utilisation_out: utilisation[1],
            seconds: length_s,
            pushes: self.pushes.len() as u64,
            samples: self.samples,
            given_up: server.counters().silent,
            usage_bps: Vec::new(),
        }
    }

    /// Mean over workers of the mean time between own pushes, of those that count.
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

/// Of updates by iteration and staleness, those whose iteration counts; the greatest of all.
pub fn staleness_of(all: &[(u64, u64)], counts_at: impl Fn(u64) -> bool) -> Staleness {
    let counted = || all.iter().filter(|(at, _)| counts_at(*at)).map(|(_, stale)| *stale);
    let mut counts = BTreeMap::new();
    counted().for_each(|stale| *counts.entry(stale).or_insert(0) += 1);
    let values: Vec<f64> = counted().map(|stale| stale as f64).collect();
    let max = all.iter().map(|(_, stale)| *stale).max().unwrap_or(0);
    Staleness { mean: mean(&values), max, counts }
}
