//! What a worker is told, and what it has its host do.

use std::sync::Arc;
use std::time::Duration;

use crate::chunk::{Precision, as_received};

/// What a worker is told.
#[derive(Debug, Clone)]
pub struct WorkerSetup {
    /// Its life: another one at each start, and never 0.
    pub incarnation: u32,
    /// A fingerprint of the model.
    pub model: u64,
    /// The model's values; at least 1.
    pub values: usize,
    /// Chunks under way at most.
    pub window: usize,
    /// The rate at which updates are sent, in bit/s; no limit unless told.
    pub rate_bps: Option<f64>,
    /// After so long without a server the worker ends.
    pub patience: Duration,
}

/// What a worker is to compute.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    /// The permission, which the update has to name.
    pub ticket: u64,
    /// The number of the iteration.
    pub iteration: u64,
    /// How many samples.
    pub batch: u32,
    /// The model's version.
    pub version: u64,
    /// The model.
    pub model: Arc<Vec<f32>>,
    /// Values of a chunk.
    pub chunk_values: usize,
    /// How they travel.
    pub precision: Precision,
}

impl Start {
    /// An update's values as they arrive at the server.
    pub fn arriving(&self, update: &[f32]) -> Vec<f32> {
        as_received(update, self.chunk_values, self.precision)
    }
}

/// Why a worker cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkerError {
    /// The server does not take it in.
    #[error("the server does not admit this worker: {0}")]
    Refused(String),
    /// The server has ended the training before its last iteration.
    #[error("the server has ended the training: {0}")]
    Stopped(String),
    /// There is no server.
    #[error("no server for {} s: start it, or correct its address", .0.as_secs_f64())]
    NoServer(Duration),
    /// The program's update has another length than the model.
    #[error("an update of {values} values, and the model has {own}: give one value for each")]
    Length {
        /// The update's.
        values: usize,
        /// The model's.
        own: usize,
    },
}

/// Order of a worker's program: the update of a permission is computed.
#[derive(Debug, Clone, PartialEq)]
pub struct Computed {
    /// The permission.
    pub ticket: u64,
    /// The update's values.
    pub update: Vec<f32>,
}

/// News of a worker for its program.
#[derive(Debug, Clone, PartialEq)]
pub enum WorkerReport {
    /// An update is to be computed; [`Computed`] answers.
    Compute(Start),
    /// An update has arrived at the server.
    Pushed {
        /// Of which iteration.
        iteration: u64,
        /// What the server says is wrong with its values, if something is.
        refusal: Option<String>,
    },
    /// The training is over.
    Over {
        /// The model's last version.
        version: u64,
    },
    /// The server leaves this client out for its data: it is over for it.
    LeftOut {
        /// Why.
        why: String,
    },
    /// The server waits for others.
    Waiting {
        /// For whom, and why.
        why: String,
    },
    /// The worker cannot go on.
    Failed(WorkerError),
}
