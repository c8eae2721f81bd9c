//! Outcome of a run.

use std::collections::BTreeMap;

use serde::Serialize;

/// One round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RoundTime {
    /// Number of the round, from 1.
    pub round: u32,
    /// Time when the last site had the sum, in seconds.
    pub ended_s: f64,
    /// Time since the end of the previous round, in seconds.
    pub seconds: f64,
    /// Version of the plan of the round.
    pub version: u64,
}

/// Consequence of a fault.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Consequence {
    /// Description of the fault.
    pub fault: String,
    /// Time of the fault, in seconds.
    pub at_s: f64,
    /// Active round at that time.
    pub round: u32,
    /// Time when sites noticed the fault, in seconds; `None` if they did not.
    pub noticed_s: Option<f64>,
    /// Newest round of a site at that time.
    pub noticed_round: Option<u32>,
    /// For a link: the first round that followed a plan without the link, and the number of rounds between
    /// `noticed_round` and that round; `None` if there was no such round, for example because the link
    /// recovered first.
    pub without_it: Option<(u32, u32)>,
}

/// Outcome of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Outcome {
    /// Name of the scheme.
    pub scheme: &'static str,
    /// Time when the first site started round 1, in seconds: before, sites exchange hellos.
    pub began_s: f64,
    /// Rounds, in order.
    pub rounds: Vec<RoundTime>,
    /// Mean duration of a round, in seconds, including the exchange of hellos.
    pub mean_s: f64,
    /// Number of values of sums that were compared, all equal.
    pub values_compared: u64,
    /// Number of plans that the scheduler computed and offered.
    pub plans: u64,
    /// Number of restarted sites that loaded another site's state.
    pub joined: u64,
    /// Number of requests for missing chunks since the sites' last restarts.
    pub asks: u64,
    /// Consequences of the faults, in order.
    pub faults: Vec<Consequence>,
    /// Numbers of other events, by name.
    pub seen: BTreeMap<&'static str, u64>,
    /// Error of the first site that ended early; `None` if all rounds are complete.
    pub ended: Option<String>,
}
