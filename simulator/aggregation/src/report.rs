//! Outcome of a run.

use std::collections::BTreeMap;
use std::fmt;

use inart_protocol_aggregation::ServerCounters;
use inart_topologies::faults::quantity::Span;
use inart_topologies::units::{counted, display_rate, display_seconds};
use serde::Serialize;

use crate::Tally;
use crate::watch::Watched;

/// Outcome of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The topology's name.
    pub topology: String,
    /// The seed of gradients and faults.
    pub seed: u64,
    /// Reason why the run failed, if it did: a wrong sum, a hang, a job aborted without a cause, or a worker
    /// without an error report.
    pub failure: Option<String>,
    /// Virtual time at the end.
    pub seconds: f64,
    /// Frames sent on links, counted once per link.
    pub packet_hops: u64,
    /// Frames that switches took into a sum.
    pub summed_in_switches: u64,
    /// Frames that switches refused, by reason.
    pub refused: BTreeMap<String, u64>,
    /// Sums compared bit for bit: one per round, block and worker.
    pub sums_checked: u64,
    /// Number of faults, by name.
    pub faults: BTreeMap<&'static str, u64>,
    /// Number of faults, by field.
    #[serde(skip)]
    pub tally: Tally,
    /// Outcome of each job.
    pub jobs: Vec<JobReport>,
    /// Plan changes, if any were requested.
    #[serde(skip)]
    pub changes: Option<ChangesReport>,
    /// Observations, if requested.
    #[serde(skip)]
    pub watched: Option<Watched>,
    /// Jain's fairness index of the jobs' goodput while all of them ran: (Σx)² / (n Σx²), 1 when all are
    /// equal.
    pub jain: f64,
}

/// Outcome of the plan changes.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangesReport {
    /// Changes that are over.
    pub changes: u32,
    /// Rounds that some worker did not end with the right sum.
    pub lost_rounds: u32,
    /// Time from the start of the first change to the end of the last; `None` if the last is not over.
    pub seconds: Option<f64>,
    /// Results of the slowest worker in that time, by job.
    pub results: Vec<u64>,
}

impl ChangesReport {
    /// The time from the beginning of the first change to the end of the last.
    pub fn span(&self) -> Option<Span> {
        self.seconds.map(|seconds| Span((seconds * 1e9).round() as u64))
    }

    /// The part of the goodput of another run, in the same time and without changes, that this one reached
    /// while plans changed: of the job that lost most.
    pub fn goodput_ratio(&self, without: &Self) -> Option<f64> {
        let rate = |of: &Self| {
            let seconds = of.seconds.filter(|seconds| *seconds > 0.0)?;
            Some(of.results.iter().map(|results| *results as f64 / seconds).collect::<Vec<_>>())
        };
        let ratios = rate(self)?.into_iter().zip(rate(without)?).map(|(with, without)| with / without);
        ratios.reduce(f64::min)
    }
}

/// Outcome of a job.
#[derive(Clone, Debug, Serialize)]
pub struct JobReport {
    /// Name.
    pub job: String,
    /// Rounds that ended with the right sum at every worker.
    pub rounds: u32,
    /// A digest of those sums: equal digests, equal bits.
    pub digest: String,
    /// Time from the start to the last worker's end.
    pub seconds: f64,
    /// Bits of gradient values that each worker got summed, per second, over the rounds above.
    pub goodput_bps: f64,
    /// The slowest worker's rate of summed values until the first job ended.
    pub shared_goodput_bps: f64,
    /// The rate at which the plan has each worker send, in bits of Ethernet frames per second.
    pub planned_bps: f64,
    /// Chunks retransmitted by workers.
    pub retransmissions: u64,
    /// Gradient frames sent past the switches.
    pub bypasses: u64,
    /// Counters of its servers since their last start, in the order of the shards.
    pub servers: Vec<ServerCounters>,
    /// Workers that did not end with the sum of the last round.
    pub ends: Vec<WorkerEnd>,
}

/// End of a worker that does not have the last round's sum.
#[derive(Clone, Debug, Serialize)]
pub struct WorkerEnd {
    /// Name.
    pub worker: String,
    /// Error that it reported, or "killed".
    pub end: String,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}: {} of virtual time, {}, {} summed in switches, {} compared bit for bit{}.",
            self.topology,
            display_seconds(self.seconds),
            counted(self.packet_hops, "packet-hop"),
            counted(self.summed_in_switches, "frame"),
            counted(self.sums_checked, "sum"),
            if self.failure.is_none() { ", all equal" } else { "" }
        )?;
        for job in &self.jobs {
            writeln!(
                f,
                "job {}: {} in {}, goodput {} (planned sending rate {}), {} retransmitted, {} by bypass",
                job.job,
                counted(job.rounds, "round"),
                display_seconds(job.seconds),
                display_rate(job.goodput_bps),
                display_rate(job.planned_bps),
                job.retransmissions,
                job.bypasses
            )?;
            for WorkerEnd { worker, end } in &job.ends {
                writeln!(f, "  {worker}: {end}")?;
            }
        }
        if self.jobs.len() > 1 {
            writeln!(f, "fairness among the jobs (Jain): {:.3}", self.jain)?;
        }
        for (counts, what) in [(named(&self.faults), "faults"), (named(&self.refused), "refused by switches")]
        {
            if !counts.is_empty() {
                writeln!(f, "{what}: {}", counts.join(", "))?;
            }
        }
        Ok(())
    }
}

fn named<K: fmt::Display>(counts: &BTreeMap<K, u64>) -> Vec<String> {
    counts.iter().map(|(what, count)| format!("{what} {count}")).collect()
}
