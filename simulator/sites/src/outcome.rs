//! What came of a run.

use std::collections::BTreeMap;

use serde::Serialize;

/// One round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RoundTime {
    /// Its number, from 1.
    pub round: u32,
    /// When the last site had its sum, in seconds.
    pub ended_s: f64,
    /// Since the round before had ended.
    pub seconds: f64,
    /// The version of the plan that it followed.
    pub version: u64,
}

/// What followed from a fault.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Consequence {
    /// What was gone, in words.
    pub fault: String,
    /// When, in seconds.
    pub at_s: f64,
    /// The round that was under way.
    pub round: u32,
    /// When sites noticed, in seconds; `None` if they did not.
    pub noticed_s: Option<f64>,
    /// The newest round that a site was in when it was noticed.
    pub noticed_round: Option<u32>,
    /// Of a link: the first round that followed a plan without it, and how many rounds that is after
    /// `noticed_round`; `None` if there was none, such as when it came back before.
    pub without_it: Option<(u32, u32)>,
}

/// A run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Outcome {
    /// The scheme's name.
    pub scheme: &'static str,
    /// When the first site began round 1, in seconds: before that, sites meet.
    pub began_s: f64,
    /// The rounds, in order.
    pub rounds: Vec<RoundTime>,
    /// Their mean time, in seconds, with the time in which sites meet.
    pub mean_s: f64,
    /// Values of sums that were compared, all equal.
    pub values_compared: u64,
    /// Plans that the scheduler made and offered.
    pub plans: u64,
    /// Sites that started again and loaded another's state.
    pub joined: u64,
    /// Times that sites asked for chunks that were missing, since they were last started.
    pub asks: u64,
    /// What followed from the faults, in order.
    pub faults: Vec<Consequence>,
    /// What happened beside, by name.
    pub seen: BTreeMap<&'static str, u64>,
    /// Why the training ended early, in the words of the first site that ended; none if all rounds are over.
    pub ended: Option<String>,
}
