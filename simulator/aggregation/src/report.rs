//! What a run came to.

use std::collections::BTreeMap;
use std::fmt;

use inart_protocol_aggregation::ServerCounters;
use inart_topologies::faults::quantity::Span;
use inart_topologies::units::{counted, display_rate, display_seconds};
use serde::Serialize;

use crate::Tally;
use crate::watch::Watched;

/// What a run came to.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The topology's name.
    pub topology: String,
    /// The seed of gradients and faults.
    pub seed: u64,
    /// Why the run is a failure, if it is one: a wrong sum, a hang, a job given up without need, or a worker
    /// that was not told.
    pub failure: Option<String>,
    /// Virtual time at the end.
    pub seconds: f64,
    /// Frames given to a link, each link on their way counted.
    pub packet_hops: u64,
    /// Frames that switches took into a sum.
    pub summed_in_switches: u64,
    /// Frames that switches refused, by reason.
    pub refused: BTreeMap<String, u64>,
    /// Sums compared bit for bit: one per round, block and worker.
    pub sums_checked: u64,
    /// How often each fault happened.
    pub faults: BTreeMap<&'static str, u64>,
    /// The same, as numbers.
    #[serde(skip)]
    pub tally: Tally,
    /// Each job.
    pub jobs: Vec<JobReport>,
    /// Changes of plans, if there were to be any.
    #[serde(skip)]
    pub changes: Option<ChangesReport>,
    /// What was seen, if something was to be watched.
    #[serde(skip)]
    pub watched: Option<Watched>,
    /// Jain's fairness index of the jobs' goodput while all of them ran: (Σx)² / (n Σx²), 1 when all are
    /// equal.
    pub jain: f64,
}

/// What became of the changes of plans.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangesReport {
    /// Changes that are over.
    pub changes: u32,
    /// Rounds that some worker did not end with the right sum.
    pub lost_rounds: u32,
    /// From the beginning of the first to the end of the last; `None` if the last is not over.
    pub seconds: Option<f64>,
    /// By job, the results that its slowest worker got in that time.
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

/// What became of a job.
#[derive(Clone, Debug, Serialize)]
pub struct JobReport {
    /// Its name.
    pub job: String,
    /// Rounds that ended with the right sum at every worker.
    pub rounds: u32,
    /// A digest of those sums: equal digests, equal bits.
    pub digest: String,
    /// From the start to the last worker's end.
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
    /// What its servers counted since they were last started, in the order of the shards.
    pub servers: Vec<ServerCounters>,
    /// Workers that did not end with the sum of the last round.
    pub ends: Vec<WorkerEnd>,
}

/// How a worker ended that has not the last round's sum.
#[derive(Clone, Debug, Serialize)]
pub struct WorkerEnd {
    /// Its name.
    pub worker: String,
    /// What it was told, or that it was killed.
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
