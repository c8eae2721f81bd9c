//! Lines of peers and their coordinator.

use serde::{Deserialize, Serialize};

/// An average of models, at a peer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Averaged {
    /// SHA-256 of the average's bits, in hexadecimal.
    pub averaged: String,
    /// The round that it ends.
    pub round: u32,
    /// Each model's peer and round.
    pub of: Vec<(String, u32)>,
}

/// An update that a peer computed. Times are in nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PeerSent {
    /// SHA-256 of the update's bits, in hexadecimal.
    pub sent: String,
    /// The peer's round.
    pub round: u32,
    /// Start of the peer's computation of the update.
    pub began_ns: u64,
    /// End of the computation.
    pub computed_ns: u64,
}

/// An update that arrived at a peer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Received {
    /// SHA-256 of the update's bits, in hexadecimal.
    pub received: String,
    /// The sender's name.
    pub from: String,
    /// The sender's round.
    pub round: u32,
}

/// The end of a multicast, at its sender.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MulticastEnd {
    /// The sender's round.
    pub round: u32,
    /// Names of the receivers that acknowledged the whole update.
    pub complete: Vec<String>,
    /// Names of the receivers that a newer choice excluded.
    pub withdrawn: Vec<String>,
    /// Names of the receivers that timed out.
    pub given_up: Vec<String>,
    /// Time of the multicast, in seconds.
    pub seconds: f64,
    /// End, in nanoseconds.
    pub ended_ns: u64,
    /// Whether the previous receivers were used, since no choice arrived.
    pub rounds_with_previous_receivers: bool,
}

/// The end of a peer: its counts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PeerEnd {
    /// Share of test images that the trained model classifies correctly; `None` without training.
    pub accuracy: Option<f64>,
    /// Updates that the peer received.
    pub complete: u64,
    /// Updates of which a part arrived.
    pub abandoned: u64,
    /// Receivers that timed out.
    pub given_up: u64,
    /// Chunks that were sent again on connections.
    pub failed: u64,
    /// Peers that were taken for failed.
    pub gone: u64,
    /// Peers that recovered.
    pub back: u64,
    /// Rounds to the last receivers, since no choice arrived.
    pub rounds_with_previous_receivers: u64,
    /// Rounds that the peer skipped when it rejoined.
    pub rounds_skipped: u64,
    /// Times that the peer restarted from the first weights.
    pub restarted_from_init: u64,
    /// Receivers that were forced for their age.
    pub forced: u64,
    /// Choices that a newer one replaced.
    pub superseded: u64,
    /// Messages and frames for another incarnation.
    pub stale_incarnation: u64,
    /// Connections of processes that are not in the job.
    pub unknown_senders: u64,
    /// Requests for missing chunks.
    pub asks: u64,
    /// Chunks that were sent again in frames.
    pub repairs: u64,
    /// Frames of updates for other peers.
    pub misdelivered: u64,
    /// Frames of another job.
    pub other_job: u64,
    /// Frames of another plan version.
    pub other_plan_version: u64,
    /// Frames of senders that are not in the job.
    pub unknown: u64,
    /// Frames that cannot be decoded.
    pub malformed: u64,
}

/// Receivers that a coordinator chose.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chosen {
    /// The sender's name.
    pub from: String,
    /// The sender's round.
    pub round: u32,
    /// Names of the receivers.
    pub to: Vec<String>,
    /// Sending rate of the update, in bit/s.
    pub rate_bps: f64,
}
