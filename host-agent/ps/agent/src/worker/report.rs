//! Settings of a worker, and its reports.

use std::sync::Arc;
use std::time::Duration;

use crate::chunk::{Precision, as_received};

/// Settings of a worker.
#[derive(Debug, Clone)]
pub struct WorkerSetup {
    /// Incarnation: different at each start, and never 0.
    pub incarnation: u32,
    /// Fingerprint of the model.
    pub model: u64,
    /// Number of the model's values; at least 1.
    pub values: usize,
    /// Most chunks in flight.
    pub window: usize,
    /// Highest sending rate of updates, in bit/s; `None` for no limit.
    pub rate_bps: Option<f64>,
    /// Time without a server after which the worker ends.
    pub patience: Duration,
}

/// Task of an iteration.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    /// Number of the permission, which the update must name.
    pub ticket: u64,
    /// Number of the iteration.
    pub iteration: u64,
    /// Number of samples.
    pub batch: u32,
    /// Version of the model.
    pub version: u64,
    /// Values of the model.
    pub model: Arc<Vec<f32>>,
    /// Values per chunk.
    pub chunk_values: usize,
    /// Wire format of values.
    pub precision: Precision,
}

impl Start {
    /// Returns an update's values as they arrive at the server.
    pub fn arriving(&self, update: &[f32]) -> Vec<f32> {
        as_received(update, self.chunk_values, self.precision)
    }
}

/// Error that ends a worker.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkerError {
    /// Refusal by the server.
    #[error("the server does not admit this worker: {0}")]
    Refused(String),
    /// End of the training by the server before its last iteration.
    #[error("the server has ended the training: {0}")]
    Stopped(String),
    /// No server.
    #[error("no server for {} s: start it, or correct its address", .0.as_secs_f64())]
    NoServer(Duration),
    /// Wrong length of the program's update.
    #[error("an update of {values} values, and the model has {own}: give one value for each")]
    Length {
        /// Values of the update.
        values: usize,
        /// Values of the model.
        own: usize,
    },
}

/// Update that the program computed for a permission.
#[derive(Debug, Clone, PartialEq)]
pub struct Computed {
    /// Number of the permission.
    pub ticket: u64,
    /// Values of the update.
    pub update: Vec<f32>,
}

/// Report of a worker to its program.
#[derive(Debug, Clone, PartialEq)]
pub enum WorkerReport {
    /// Task to compute; [`Computed`] answers.
    Compute(Start),
    /// Arrival of an update at the server.
    Pushed {
        /// Iteration of the update.
        iteration: u64,
        /// Defect of the values, if the server refused them.
        refusal: Option<String>,
    },
    /// End of the training.
    Over {
        /// Last version of the model.
        version: u64,
    },
    /// Exclusion of this client for its data, which ends it.
    LeftOut {
        /// Reason.
        why: String,
    },
    /// Wait of the server for other workers.
    Waiting {
        /// Awaited workers, and the reason.
        why: String,
    },
    /// Error that ends the worker.
    Failed(WorkerError),
}
