//! Measurements of an emulation.
//!
//! Important rates and times are given twice: in wall-clock time of the emulation, whose links are slower
//! than the topology's by one factor, and *unscaled*, at the topology's own rates.

use std::collections::BTreeMap;

use inart_experiments::{Outcome, Quantity};
use inart_planner_aggregation::{Plan, Scheme};
use inart_report::Trained;
use serde::{Serialize, Serializer};

use crate::aggregation::timeline::{Event, Timeline};
use crate::machine::relay::RelayCounters;
use crate::machine::scale::Scale;

/// The whole result of an emulation in which every sum was right.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Name of the topology.
    pub topology: String,
    /// True: an emulation with a wrong sum has no summary.
    pub bit_exact: bool,
    /// Rounds per job and scheme.
    pub rounds: u32,
    /// Sums compared bit for bit: one per round, block and worker.
    pub sums_checked: u64,
    /// All rates of the topology were multiplied by this.
    pub scale: f64,
    /// Seed of the plans, the training and the faults.
    pub seed: u64,
    /// Share of frames dropped on every link.
    pub drop: f64,
    /// Kind of the switches.
    pub target: &'static str,
    /// Values per frame.
    pub values: usize,
    /// Chunks in flight per worker and shard.
    pub window: u32,
    /// Duration of the emulation, in seconds.
    pub elapsed_seconds: f64,
    /// Training without a network, per job.
    pub single_host: Vec<SingleHost>,
    /// Figures of plan changes, if there were any.
    #[serde(flatten)]
    pub changes: Option<ChangesFigures>,
    /// In the order in which they ran.
    #[serde(serialize_with = "as_map")]
    pub schemes: Vec<SchemeFigures>,
}

/// A job's training on one host.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SingleHost {
    /// Name of the job.
    pub job: String,
    /// On the test set.
    pub loss: f64,
    /// On the test set, 0 to 1.
    pub accuracy: f64,
    /// Mean loss of each round's images.
    #[serde(skip)]
    pub losses: Vec<f32>,
}

/// One scheme. With several jobs, rates and times are those of the slowest, the rest is summed.
#[derive(Clone, Debug, Serialize)]
pub struct SchemeFigures {
    /// The scheme.
    #[serde(skip)]
    pub scheme: &'static dyn Scheme,
    /// True, as for the whole.
    pub bit_exact: bool,
    /// Rounds per job.
    pub rounds: u32,
    /// Rate at which each worker got its gradient summed, in bits of Ethernet frames per second, measured,
    /// unscaled. A retransmitted frame counts once.
    pub rate_bps: f64,
    /// The plan's rate of the same, unscaled.
    pub planned_rate_bps: f64,
    /// Rate at which all workers got sums, W · f in bits of frames per second, measured, unscaled.
    pub throughput_bps: f64,
    /// Further figures of the plan.
    pub planned: Planned,
    /// Bits of gradient values alone per second, measured, unscaled.
    pub goodput_bps: f64,
    /// Median time that the all-reduce of a round took, in seconds, unscaled.
    pub comm_seconds: f64,
    /// Mean of the same.
    pub comm_seconds_mean: f64,
    /// Median of the same as the clock showed it.
    pub wall_comm_seconds: f64,
    /// Bytes of gradients and partials that came in at the servers, all rounds.
    pub ps_ingress_bytes: u64,
    /// Frames that became part of a sum in a switch, all rounds.
    pub packets_aggregated: u64,
    /// Chunks that workers retransmitted.
    pub retransmissions: u64,
    /// Frames dropped on the links on purpose.
    pub link_drops: u64,
    /// Counters of injected frame faults.
    pub links: RelayCounters,
    /// Injected faults of processes and links.
    pub faults: Vec<Event>,
    /// End times and goodputs of rounds; goodputs are unscaled.
    #[serde(skip)]
    pub timeline: Timeline,
    /// Figures of plan changes, if there were any.
    #[serde(skip)]
    pub changes: Option<ChangesFigures>,
    /// Frames dropped by switches, by reason.
    pub switch_drops: BTreeMap<String, u64>,
    /// Per job.
    pub jobs: Vec<JobFigures>,
}

/// One job under one scheme. Units as in [`SchemeFigures`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JobFigures {
    /// Name of the job.
    pub job: String,
    /// True, as for the whole.
    pub bit_exact: bool,
    /// Measured, unscaled, of Ethernet frames.
    pub rate_bps: f64,
    /// The plan's.
    pub planned_rate_bps: f64,
    /// Rate of all workers together.
    pub throughput_bps: f64,
    /// Computed from the plan.
    pub planned: Planned,
    /// Measured, unscaled, of values.
    pub goodput_bps: f64,
    /// Median, unscaled.
    pub comm_seconds: f64,
    /// Mean, unscaled.
    pub comm_seconds_mean: f64,
    /// Median, as the clock showed it.
    pub wall_comm_seconds: f64,
    /// Bytes into all of the job's servers.
    pub ps_ingress_bytes: u64,
    /// By all the job's workers.
    pub retransmissions: u64,
    /// Number of starts of an elastic job: the first, and one after each change of its members.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<usize>,
    /// Results of the training, if one was run.
    #[serde(flatten)]
    pub trained: Option<Trained>,
    /// Mean loss of each round's images.
    #[serde(skip)]
    pub losses: Vec<f32>,
}

/// Figures of plan changes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangesFigures {
    /// Number of plan changes.
    pub changes: u32,
    /// Rounds without the right sum at every worker.
    pub lost_rounds: u32,
    /// Goodput during changes over goodput in the pauses between, for the job that lost most.
    pub goodput_ratio: Option<f64>,
    /// For how long plans changed, in seconds by the clock.
    pub change_seconds: f64,
    /// The median time of a change, from the order to the end, in milliseconds.
    pub change_ms: f64,
    /// Why there were fewer changes than asked for, if there were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Figures of a plan by arithmetic, as the InArt paper counts: without headers, and without result traffic.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Planned {
    /// Time of a round, size / f, in seconds.
    pub comm_seconds: f64,
    /// W · f, in bits per second.
    pub throughput_bps: f64,
    /// Into all servers in a round, in bytes.
    pub ps_ingress_bytes: f64,
}

impl Planned {
    /// Computes the figures for gradients of this many bytes in frames; with exact sums, those of the digits.
    pub fn of(plan: &Plan, gradient_bytes: f64, workers: usize) -> Self {
        let outcome = Outcome::from(plan);
        let figure = |quantity: Quantity| quantity.of_plan(&outcome, gradient_bytes, workers);
        Self {
            comm_seconds: figure(Quantity::CommunicationTime { passes: 1.0 }),
            throughput_bps: 1e6 * figure(Quantity::SentThroughput),
            ps_ingress_bytes: 1e6 * figure(Quantity::ServerIngress),
        }
    }
}

/// Rates and times of a job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Bits of frames per second, unscaled.
    pub rate_bps: f64,
    /// Bits of gradient values per second, unscaled.
    pub goodput_bps: f64,
    /// Median time per round, as the clock showed it, in seconds.
    pub wall_comm_seconds: f64,
    /// Mean of the same.
    pub wall_comm_seconds_mean: f64,
}

impl Pace {
    /// Computes the pace of rounds with these durations by the wall clock, in which every worker sent
    /// `values` 32-bit values in frames of `frame_bytes` together, on a network slowed down by `scale`. Rates
    /// are those of the median round.
    pub fn of(seconds: &[f64], frame_bytes: usize, values: usize, scale: f64) -> Self {
        let wall_comm_seconds = median(seconds.to_vec());
        let per_second =
            |bits: f64| if wall_comm_seconds > 0.0 { bits / wall_comm_seconds / scale } else { 0.0 };
        Self {
            rate_bps: per_second(8.0 * frame_bytes as f64),
            goodput_bps: per_second(32.0 * values as f64),
            wall_comm_seconds,
            wall_comm_seconds_mean: seconds.iter().sum::<f64>() / seconds.len().max(1) as f64,
        }
    }
}

impl Summary {
    /// Describes the rates of the emulated links: `at 1/100 of the topology's rates`.
    pub fn scale_phrase(&self) -> String {
        match Scale::try_from(self.scale) {
            Ok(scale) if !scale.is_one() => format!("at {scale} of the topology's rates"),
            _ => "at the topology's own rates".into(),
        }
    }
}

impl SchemeFigures {
    /// Puts jobs that ran at the same time together.
    pub fn of_jobs(scheme: &'static dyn Scheme, rounds: u32, jobs: Vec<JobFigures>) -> Self {
        let of = |figure: fn(&JobFigures) -> f64| jobs.iter().map(figure);
        let least = |figure| of(figure).fold(f64::INFINITY, f64::min);
        let most = |figure| of(figure).fold(0.0, f64::max);
        let sum = |figure| of(figure).sum();
        Self {
            bit_exact: jobs.iter().all(|job| job.bit_exact),
            rounds,
            rate_bps: least(|job| job.rate_bps),
            planned_rate_bps: least(|job| job.planned_rate_bps),
            throughput_bps: sum(|job| job.throughput_bps),
            planned: Planned {
                comm_seconds: most(|job| job.planned.comm_seconds),
                throughput_bps: sum(|job| job.planned.throughput_bps),
                ps_ingress_bytes: sum(|job| job.planned.ps_ingress_bytes),
            },
            goodput_bps: least(|job| job.goodput_bps),
            comm_seconds: most(|job| job.comm_seconds),
            comm_seconds_mean: most(|job| job.comm_seconds_mean),
            wall_comm_seconds: most(|job| job.wall_comm_seconds),
            ps_ingress_bytes: jobs.iter().map(|job| job.ps_ingress_bytes).sum(),
            retransmissions: jobs.iter().map(|job| job.retransmissions).sum(),
            packets_aggregated: 0,
            link_drops: 0,
            links: RelayCounters::default(),
            faults: Vec::new(),
            timeline: Timeline::default(),
            changes: None,
            switch_drops: BTreeMap::new(),
            scheme,
            jobs,
        }
    }
}

/// The middle value, or the mean of the two in the middle; 0 of none.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => values[n / 2],
        n => (values[n / 2 - 1] + values[n / 2]) / 2.0,
    }
}

fn as_map<S: Serializer>(schemes: &[SchemeFigures], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(schemes.iter().map(|figures| (figures.scheme.name(), figures)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_round_sets_the_pace() {
        let pace = Pace::of(&[0.1, 0.9, 0.2], 1000, 200, 0.01);
        assert!((pace.rate_bps - 8.0 * 1000.0 / 0.2 * 100.0).abs() < 1e-3, "{pace:?}");
        assert!((pace.goodput_bps - 6400.0 / 0.2 * 100.0).abs() < 1e-3, "{pace:?}");
        assert_eq!(pace.wall_comm_seconds, 0.2);
        assert!((pace.wall_comm_seconds_mean - 0.4).abs() < 1e-12);
        assert_eq!(Pace::of(&[], 1000, 200, 0.01).rate_bps, 0.0);
        assert_eq!(median(vec![4.0, 1.0, 3.0, 2.0]), 2.5);
    }
}
