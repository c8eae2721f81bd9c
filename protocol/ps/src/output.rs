//! Actions for a server's host.

use std::time::Duration;

use crate::store::Refusal;
use crate::worker_states::WorkerNo;

/// Next action, in order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Output {
    /// Permit a worker to pull.
    Permit {
        /// Worker.
        worker: WorkerNo,
        /// Number of the worker's iteration, which its push must name.
        iteration: u64,
        /// Number of samples.
        batch: u32,
    },
    /// Apply held updates to the model, together.
    Apply {
        /// Version of the model afterwards.
        version: u64,
        /// Updates; at least one.
        updates: Vec<Update>,
    },
    /// Drop a held update, which was refused on arrival.
    Discard {
        /// Sender.
        worker: WorkerNo,
        /// Iteration of the update.
        iteration: u64,
        /// Reason.
        refusal: Refusal,
    },
    /// Remove a worker that has timed out: it has pushed nothing for too long. It may join again.
    Gone {
        /// Worker.
        worker: WorkerNo,
        /// Time without a push.
        silent: Duration,
    },
}

/// An applied update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Update {
    /// Sender.
    pub worker: WorkerNo,
    /// Iteration of the update.
    pub iteration: u64,
    /// Changes of the model between the pull that the update was computed from and now.
    pub staleness: u64,
    /// Samples of the update.
    pub batch: u32,
    /// Samples of the worker's first batch.
    pub first_batch: u32,
}

impl Update {
    /// Returns the factor of the learning rate: batch / first batch (Algorithm 1, line 5).
    pub fn scale(&self) -> f64 {
        f64::from(self.batch) / f64::from(self.first_batch)
    }
}
