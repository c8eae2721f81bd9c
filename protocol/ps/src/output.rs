//! What a server has its host do.

use std::time::Duration;

use crate::store::Refusal;
use crate::worker_states::WorkerNo;

/// Something to do, in order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Output {
    /// Tell a worker that it may pull.
    Permit {
        /// Whom.
        worker: WorkerNo,
        /// The number of its iteration, which its push has to name.
        iteration: u64,
        /// How many samples it computes with.
        batch: u32,
    },
    /// Apply held updates to the model, together.
    Apply {
        /// The version that the model has then.
        version: u64,
        /// Which; at least one.
        updates: Vec<Update>,
    },
    /// Forget a held update: it was refused when it arrived.
    Discard {
        /// Whose.
        worker: WorkerNo,
        /// Of which iteration.
        iteration: u64,
        /// Why.
        refusal: Refusal,
    },
    /// A worker is given up: it has pushed nothing for too long. It may join again.
    Gone {
        /// Which.
        worker: WorkerNo,
        /// For how long it has been silent.
        silent: Duration,
    },
}

/// An update that is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Update {
    /// Whose.
    pub worker: WorkerNo,
    /// Of which iteration.
    pub iteration: u64,
    /// How often the model was changed between the pull that it was computed from and now.
    pub staleness: u64,
    /// Samples that it was computed from.
    pub batch: u32,
    /// Samples of the worker's first batch.
    pub first_batch: u32,
}

impl Update {
    /// What the learning rate is multiplied by: batch / first batch (Algorithm 1, line 5).
    pub fn scale(&self) -> f64 {
        f64::from(self.batch) / f64::from(self.first_batch)
    }
}
