//! Outcome of a run.

use serde::Serialize;

/// Outcome of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// Name of the scheme.
    pub scheme: &'static str,
    /// Maker of the copies.
    pub multicast: &'static str,
    /// Statistics.
    #[serde(flatten)]
    pub figures: Figures,
    /// Virtual time at the end, in seconds.
    pub virtual_s: f64,
    /// Complete updates; each was compared word for word.
    pub updates_compared: u64,
    /// Averages that were compared with one computed in another way.
    pub averages_compared: u64,
    /// Receivers that timed out.
    pub given_up: u64,
    /// Receivers from which an update was withdrawn.
    pub withdrawn: u64,
    /// Times that a peer was declared failed.
    pub gone: u64,
    /// Rounds that used the previous receivers because no choice arrived.
    pub rounds_with_previous_receivers: u64,
    /// Chunks that were retransmitted.
    pub repairs: u64,
    /// Frames, or chunks on connections, that were lost on links.
    pub lost: u64,
    /// Frames that found a full queue.
    pub overflowed: u64,
}

/// Statistics by synchronization.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Figures {
    /// Bulk synchronous.
    Rounds(Rounds),
    /// Stale synchronous.
    Stale(Stale),
}

/// Statistics of bulk synchronous rounds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rounds {
    /// Mean time of a round's longest multicast, from its first chunk to the last receiver's report, in
    /// seconds.
    pub seconds: f64,
    /// Mean of the coordinator's plan for this time, in seconds.
    pub planned_s: f64,
    /// Mean time between the ends of rounds, including computation, in seconds.
    pub round_s: f64,
    /// Mean number of peers that have an update.
    pub receivers_mean: f64,
    /// Number of rounds.
    pub rounds: u32,
}

/// Statistics of stale synchronous training.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stale {
    /// Mean share of the time in which peers compute.
    pub utilization: f64,
    /// Mean number of peers that have an update, over the number of peers.
    pub scale: f64,
    /// Ended multicasts.
    pub rounds: u64,
    /// Rounds by which the fastest peer is ahead of the slowest at the end.
    pub max_gap: u64,
}
