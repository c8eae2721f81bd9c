//! Lines of workers and servers of jobs with in-network aggregation.

use serde::{Deserialize, Serialize};

/// Result of a training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trained {
    /// Mean loss on the test set.
    pub loss: f64,
    /// Share of the test set that is classified correctly, 0 to 1.
    pub accuracy: f64,
    /// SHA-256 of the bits of the last weights, in hexadecimal.
    pub digest: String,
}

/// The end of a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkerEnd {
    /// The worker's rank.
    pub rank: u16,
    /// Rounds that it ran.
    pub rounds: u32,
    /// Seconds of communication, by round.
    pub comm_seconds: Vec<f64>,
    /// Chunks that were sent again.
    pub retransmissions: u64,
    /// Result of the training; `None` if it trained nothing.
    pub trained: Option<Trained>,
}
