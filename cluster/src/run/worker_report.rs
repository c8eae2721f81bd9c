//! What came out of a run of workers.

use std::collections::BTreeMap;

use inart_order::{Policy, Server, Update, WorkerNo};
use serde::Serialize;

use super::clock::seconds;
use super::statistics::{mean, quantile};
use crate::network::Job;

/// A gap counts as none below this part of the even one.
const ZERO_GAP: f64 = 0.1;

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
    pub zero_gaps: f64,
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

/// What is noted while a run goes on.
pub struct Record {
    iterations: u64,
    /// Arrivals: when, and whose.
    pushes: Vec<(f64, usize)>,
    by_worker: Vec<u64>,
    /// Workers that have pushed a third of their iterations.
    past_third: usize,
    /// How many pushes there were when all had.
    counted_from: Option<(usize, f64)>,
    /// When it was applied, and how stale it was.
    staleness: Vec<(f64, u64)>,
    samples: u64,
}

impl Record {
    pub fn new(workers: usize, iterations: u32) -> Self {
        let mut record = Record {
            iterations: u64::from(iterations),
            pushes: Vec::new(),
            by_worker: vec![0; workers],
            past_third: 0,
            counted_from: None,
            staleness: Vec::new(),
            samples: 0,
        };
        if record.third() == 0 {
            record.counted_from = Some((0, 0.0));
        }
        record
    }

    fn third(&self) -> u64 {
        self.iterations / 3
    }

    pub fn push(&mut self, at_s: f64, worker: usize) {
        self.pushes.push((at_s, worker));
        self.by_worker[worker] += 1;
        if self.by_worker[worker] == self.third() {
            self.past_third += 1;
            if self.past_third == self.by_worker.len() {
                self.counted_from = Some((self.pushes.len(), at_s));
            }
        }
    }

    pub fn apply(&mut self, at_s: f64, update: &Update) {
        self.staleness.push((at_s, update.staleness));
        self.samples += u64::from(update.batch);
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
        server: &Server<Policy>,
        sync: &'static str,
        seconds_: f64,
        utilisation: [f64; 2],
    ) -> WorkerRun {
        // Where somebody was gone for good, its third may never have come.
        let (from, from_s) = self.counted_from.unwrap_or((self.pushes.len() / 3, seconds_ / 3.0));
        let iteration_s = self.iteration_s(from);
        let mut gaps: Vec<f64> =
            (from.max(1)..self.pushes.len()).map(|at| self.pushes[at].0 - self.pushes[at - 1].0).collect();
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
            zero_gaps: zero as f64 / gaps.len().max(1) as f64,
            gap_quantiles_s: [("0.05", 0.05), ("0.25", 0.25), ("0.5", 0.5), ("0.75", 0.75), ("0.95", 0.95)]
                .map(|(name, part)| (name, quantile(&gaps, part)))
                .into(),
            staleness: self.stalenesses(from_s),
            blocking_s: total / pulls.max(1) as f64,
            blockings_s: names.clone().zip(each).collect(),
            batches: names.zip(numbers().map(|worker| server.batch(worker))).collect(),
            relaxation: server.relaxation().as_f64(),
            utilisation_in: utilisation[0],
            utilisation_out: utilisation[1],
            seconds: seconds_,
            pushes: self.pushes.len() as u64,
            samples: self.samples,
            given_up: server.counters().silent,
            usage_bps: Vec::new(),
        }
    }

    /// Mean over workers of the mean time between own pushes, of those that count.
    fn iteration_s(&self, from: usize) -> f64 {
        let mut last: Vec<Option<f64>> = vec![None; self.by_worker.len()];
        let mut times: Vec<Vec<f64>> = vec![Vec::new(); self.by_worker.len()];
        for (at, &(at_s, worker)) in self.pushes.iter().enumerate() {
            if let Some(before) = last[worker].replace(at_s).filter(|_| at >= from) {
                times[worker].push(at_s - before);
            }
        }
        let means: Vec<f64> = times.iter().filter(|times| !times.is_empty()).map(|all| mean(all)).collect();
        mean(&means)
    }

    fn stalenesses(&self, from_s: f64) -> Staleness {
        let counted = || self.staleness.iter().filter(|(at_s, _)| *at_s > from_s).map(|(_, stale)| *stale);
        let mut counts = BTreeMap::new();
        counted().for_each(|stale| *counts.entry(stale).or_insert(0) += 1);
        let all: Vec<f64> = counted().map(|stale| stale as f64).collect();
        let max = self.staleness.iter().map(|(_, stale)| *stale).max().unwrap_or(0);
        Staleness { mean: mean(&all), max, counts }
    }
}
