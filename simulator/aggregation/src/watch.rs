//! What a run is watched for, and whether plans follow what is seen.

use inart_steering::{Decision, ReplanThresholds};
use inart_topologies::faults::quantity::Span;

/// Other traffic on one link, from a moment on: frames that come in at its sending end at a constant rate,
/// whatever becomes of them, and that nobody gets at the other end.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkTraffic {
    /// The node that sends.
    pub from: String,
    /// Its neighbour.
    pub to: String,
    /// In bits of Ethernet frames per second.
    pub rate_bps: f64,
    /// When it begins.
    pub at: Span,
}

/// What is looked at while jobs run.
#[derive(Clone, Debug)]
pub struct Watch {
    /// How often.
    pub every: Span,
    /// Jobs go on with round after round until then, if given.
    pub until: Option<Span>,
    /// Whether plans follow what is seen, and how.
    pub follow: Option<Follow>,
}

/// How plans follow what is seen.
#[derive(Clone, Debug)]
pub struct Follow {
    /// When a change is worth it.
    pub thresholds: ReplanThresholds,
    /// Hosts are told of a change at random moments within this time.
    pub told_within: Span,
    /// Whether the first plan that is found will do.
    pub quick: bool,
}

/// What was seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Watched {
    /// At the end of each interval, in nanoseconds: by job, the results that its slowest worker has.
    pub results: Vec<(u64, Vec<u64>)>,
    /// What was decided, the last hundred.
    pub decisions: Vec<Decision>,
    /// When changes ended, in nanoseconds.
    pub changed_at: Vec<u64>,
}

impl Watched {
    /// By job, results per second of the slowest worker between the first interval's end from `from` on and
    /// the last up to `to`; `None` without two of them.
    pub fn results_per_second(&self, from: Span, to: Span) -> Option<Vec<f64>> {
        let (begin, before) = self.results.iter().find(|(at, _)| *at >= from.0)?;
        let (end, after) = self.results.iter().rev().find(|(at, _)| *at <= to.0)?;
        let seconds = end.checked_sub(*begin).filter(|nanos| *nanos > 0)? as f64 / 1e9;
        Some(after.iter().zip(before).map(|(after, before)| (after - before) as f64 / seconds).collect())
    }

    /// What the slowest job, compared with another run, got between those moments, as part of that run's.
    pub fn goodput_ratio(&self, other: &Self, from: Span, to: Span) -> Option<f64> {
        let [ours, theirs] = [self, other].map(|watched| watched.results_per_second(from, to));
        ours?.into_iter().zip(theirs?).map(|(ours, theirs)| ours / theirs).reduce(f64::min)
    }
}
