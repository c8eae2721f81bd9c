//! What a run comes to.

use serde::Serialize;

/// What a run comes to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// The scheme's name.
    pub scheme: &'static str,
    /// Who makes the copies.
    pub multicast: &'static str,
    /// The figures.
    #[serde(flatten)]
    pub figures: Figures,
    /// Virtual time at the end, in seconds.
    pub virtual_s: f64,
    /// Updates that arrived whole; each was compared word for word.
    pub updates_compared: u64,
    /// Averages that were compared with one computed in another way.
    pub averages_compared: u64,
    /// Receivers that were given up.
    pub given_up: u64,
    /// Receivers from which an update was withdrawn.
    pub withdrawn: u64,
    /// Times that a peer was taken for gone.
    pub gone: u64,
    /// Rounds whose receivers were the last ones, because no choice came.
    pub rounds_with_previous_receivers: u64,
    /// Chunks that were sent again.
    pub repairs: u64,
    /// Frames, or chunks on connections, that were lost on links.
    pub lost: u64,
    /// Frames that found a full queue.
    pub overflowed: u64,
}

/// Figures by the way of synchronisation.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Figures {
    /// Bulk synchronous.
    Rounds(Rounds),
    /// Stale synchronous.
    Stale(Stale),
}

/// Of bulk synchronous rounds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rounds {
    /// Mean time of a round's longest multicast, from its first chunk to the last receiver's word, in
    /// seconds.
    pub seconds: f64,
    /// Mean of what the coordinator planned for it, in seconds.
    pub planned_s: f64,
    /// Mean time from the end of one round to that of the next, with what peers compute, in seconds.
    pub round_s: f64,
    /// Mean number of peers that have an update.
    pub receivers_mean: f64,
    /// How many rounds there were.
    pub rounds: u32,
}

/// Of stale synchronous training.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stale {
    /// Mean share of the time in which peers compute.
    pub utilisation: f64,
    /// Mean number of peers that have an update, over the number of peers.
    pub scale: f64,
    /// Multicasts that have ended.
    pub rounds: u64,
    /// By how many rounds the first peer is ahead of the last at the end.
    pub max_gap: u64,
}
