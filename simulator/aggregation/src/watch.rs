//! Observation of a run, and replanning.

use inart_steering::{Decision, ReplanThresholds};
use inart_topologies::faults::quantity::Span;

/// Background traffic on one link, from a moment on: frames enter the sending end at a constant rate, even if
/// they are dropped, and no host receives them.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkTraffic {
    /// The node that sends.
    pub from: String,
    /// Neighbor.
    pub to: String,
    /// Rate in bits of Ethernet frames per second.
    pub rate_bps: f64,
    /// Start.
    pub at: Span,
}

/// Observation while jobs run.
#[derive(Clone, Debug)]
pub struct Watch {
    /// Interval.
    pub every: Span,
    /// Jobs go on with round after round until then, if given.
    pub until: Option<Span>,
    /// Replanning, if enabled.
    pub follow: Option<Follow>,
}

/// Replanning settings.
#[derive(Clone, Debug)]
pub struct Follow {
    /// Thresholds of a worthwhile change.
    pub thresholds: ReplanThresholds,
    /// Longest notification delay of hosts.
    pub notify_within: Span,
    /// Whether to use the first plan that is found.
    pub quick: bool,
}

/// Observations of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Watched {
    /// Results of the slowest worker by job, at the end of each interval in nanoseconds.
    pub results: Vec<(u64, Vec<u64>)>,
    /// Last hundred decisions.
    pub decisions: Vec<Decision>,
    /// End times of changes, in nanoseconds.
    pub changed_at: Vec<u64>,
}

impl Watched {
    /// Returns the results per second of the slowest worker, by job, between the first interval's end from
    /// `from` on and the last up to `to`; `None` without two of them.
    pub fn results_per_second(&self, from: Span, to: Span) -> Option<Vec<f64>> {
        let (begin, before) = self.results.iter().find(|(at, _)| *at >= from.0)?;
        let (end, after) = self.results.iter().rev().find(|(at, _)| *at <= to.0)?;
        let seconds = end.checked_sub(*begin).filter(|nanos| *nanos > 0)? as f64 / 1e9;
        Some(after.iter().zip(before).map(|(after, before)| (after - before) as f64 / seconds).collect())
    }

    /// Returns the goodput of the slowest job (relative to `other`) between these moments.
    pub fn goodput_ratio(&self, other: &Self, from: Span, to: Span) -> Option<f64> {
        let [ours, theirs] = [self, other].map(|watched| watched.results_per_second(from, to));
        ours?.into_iter().zip(theirs?).map(|(ours, theirs)| ours / theirs).reduce(f64::min)
    }
}
