//! Measurements of an emulated user's program. Times are wall-clock times.

use std::collections::BTreeMap;

use inart_planner_aggregation::{Plan, Scheme};
use serde::{Serialize, Serializer};

use crate::aggregation::figures::median;
use crate::aggregation::job::JobRun;
use crate::aggregation::timeline::Event;
use crate::machine::relay::RelayCounters;

/// The whole result, in which every sum that was reported was right.
#[derive(Clone, Debug, Serialize)]
pub struct ProgramSummary {
    /// Name of the topology.
    pub topology: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// True, if any sum was reported: an emulation with a wrong sum has no summary.
    pub bit_exact: Option<bool>,
    /// Sums compared bit for bit: one per tensor, block and worker.
    pub sums_checked: u64,
    /// All rates of the topology were multiplied by this.
    pub scale: f64,
    /// Seed of the plans and the faults.
    pub seed: u64,
    /// Share of frames dropped on every link.
    pub drop: f64,
    /// Values per frame.
    pub values: usize,
    /// Chunks in flight per worker and shard.
    pub window: u32,
    /// Duration of the emulation, in seconds.
    pub elapsed_seconds: f64,
    /// In the order in which they ran.
    #[serde(serialize_with = "as_map")]
    pub schemes: Vec<ProgramScheme>,
}

/// Figures of one scheme.
#[derive(Clone, Debug, Serialize)]
pub struct ProgramScheme {
    /// The scheme.
    #[serde(skip)]
    pub scheme: &'static dyn Scheme,
    /// From the start of the first rank to the end of the last, in seconds.
    pub seconds: f64,
    /// Frames that became part of a sum in a switch.
    pub packets_aggregated: u64,
    /// Counters of injected frame faults.
    pub links: RelayCounters,
    /// Injected faults of processes and links.
    pub faults: Vec<Event>,
    /// Frames dropped by switches, by reason.
    pub switch_drops: BTreeMap<String, u64>,
    /// Per job.
    pub jobs: Vec<ProgramJob>,
}

/// Figures of one job.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProgramJob {
    /// Name of the job.
    pub job: String,
    /// Whether any of its ranks was a worker of InArt's; otherwise nothing was compared.
    pub audited: bool,
    /// Number of tensors whose sums every worker had.
    pub tensors: usize,
    /// Tensors that some workers reported and others did not: they ended before.
    pub tensors_not_compared: usize,
    /// Number of those tensors with a NaN or an infinity at some worker.
    pub tensors_not_finite: usize,
    /// Sums compared: one per tensor, block and worker.
    pub sums_checked: u64,
    /// The plan's rate, on the emulated links, in bits per second.
    pub planned_rate_bps: f64,
    /// Bytes of gradients and partials that came in at its servers.
    pub ps_ingress_bytes: u64,
    /// By rank.
    pub workers: Vec<WorkerFigures>,
    /// By length, the shortest first.
    pub sizes: Vec<SizeFigures>,
}

/// Figures of one worker.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkerFigures {
    /// Rank of the worker.
    pub rank: usize,
    /// Name of the worker.
    pub worker: String,
    /// Number of tensors.
    pub tensors: u64,
    /// Their values, 4 bytes each.
    pub bytes: u64,
    /// From the start of each all-reduce to its end, added up, in seconds. Several may have run at a time.
    pub seconds: f64,
    /// Chunks that it retransmitted.
    pub retransmissions: u64,
}

/// Tensors of one length.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SizeFigures {
    /// Values, 4 bytes each.
    pub values: usize,
    /// Number of those tensors that were summed.
    pub tensors: usize,
    /// Median time of an all-reduce, at the worker that began it last, in seconds.
    pub seconds: f64,
}

impl ProgramJob {
    /// Computes the figures of a job that has ended, on links of `scale` times the topology's rates.
    pub(crate) fn of(run: &JobRun, plan: &Plan, scale: f64, audited: bool) -> Self {
        let auditor = run.auditor();
        let mut sizes = BTreeMap::<usize, Vec<f64>>::new();
        for sum in auditor.audited() {
            sizes.entry(sum.values).or_default().push(sum.seconds);
        }
        let names = run.assignment().workers.iter().map(|worker| worker.name.clone());
        let workers = names.zip(auditor.tallies()).enumerate().map(|(rank, (worker, tally))| WorkerFigures {
            rank,
            worker,
            tensors: tally.tensors,
            bytes: tally.bytes,
            seconds: tally.seconds,
            retransmissions: tally.retransmissions,
        });
        let size = |(values, seconds): (usize, Vec<f64>)| SizeFigures {
            values,
            tensors: seconds.len(),
            seconds: median(seconds),
        };
        Self {
            job: run.assignment().name.clone(),
            audited,
            tensors: auditor.audited().len(),
            tensors_not_compared: auditor.pending(),
            tensors_not_finite: auditor.not_finite(),
            sums_checked: auditor.sums_checked(),
            planned_rate_bps: plan.rate_bps * scale,
            ps_ingress_bytes: run.ps_ingress_bytes(),
            workers: workers.collect(),
            sizes: sizes.into_iter().map(size).collect(),
        }
    }
}

fn as_map<S: Serializer>(schemes: &[ProgramScheme], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(schemes.iter().map(|figures| (figures.scheme.name(), figures)))
}
