//! Settings of a server, and its reports.

use std::sync::Arc;
use std::time::Duration;

use inart_protocol_ps::{Overflow, Refusal, WorkerNo};

use crate::chunk::Precision;
use crate::sequencer::Applied;

/// Settings of a server.
#[derive(Debug, Clone)]
pub struct ServerSetup {
    /// Incarnation: different at each start, and never 0.
    pub incarnation: u32,
    /// Fingerprint of the model.
    pub model: u64,
    /// Values per chunk; at least 1.
    pub chunk_values: usize,
    /// Wire format of values.
    pub precision: Precision,
    /// Most chunks in flight to each worker.
    pub window: usize,
    /// By worker, the highest rate at which the model is sent to it, in bit/s; `None` for no limit. One entry
    /// per worker.
    pub rates_bps: Vec<Option<f64>>,
    /// Longest wait for all workers; then the training starts with those that have joined.
    pub gather: Duration,
    /// Time without a connection after which a worker times out.
    pub absence: Duration,
    /// Iterations after which the training is over, once all members have done them; `None` for no end.
    pub iterations: Option<u64>,
}

/// Report of a server to its host.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerReport {
    /// A worker, or a new incarnation of it, has joined.
    Joined {
        /// Worker.
        worker: WorkerNo,
    },
    /// A worker was refused.
    Rejected {
        /// Worker.
        worker: WorkerNo,
        /// Reason.
        why: String,
    },
    /// An update has arrived completely.
    Pushed {
        /// Sender.
        worker: WorkerNo,
        /// Iteration of the update.
        iteration: u64,
        /// Version from which the update was computed.
        base: u64,
        /// Values of the update.
        values: Arc<Vec<f32>>,
        /// Defect of the values, if any.
        refusal: Option<Refusal>,
    },
    /// The model has a new version.
    Applied(Applied),
    /// An update was dropped in its turn, because its values were refused.
    Discarded {
        /// Sender.
        worker: WorkerNo,
        /// Iteration of the update.
        iteration: u64,
        /// Reason.
        refusal: Refusal,
    },
    /// A client is excluded permanently for its data.
    LeftOut {
        /// Client.
        worker: WorkerNo,
    },
    /// An update of finite values would make the model infinite: call
    /// [`Machine::stop`](inart_connections::Machine::stop).
    Overflow {
        /// Version that the update would have made.
        version: u64,
        /// Update and value at fault.
        overflow: Overflow,
    },
    /// A worker timed out. It may rejoin.
    Gone {
        /// Worker.
        worker: WorkerNo,
    },
    /// A worker has pulled a version for an iteration.
    Pulls {
        /// Worker.
        worker: WorkerNo,
        /// The version.
        version: u64,
    },
    /// No worker has been connected for too long: call [`Machine::stop`](inart_connections::Machine::stop).
    Alone {
        /// Time without a worker.
        waited: Duration,
    },
    /// A version cannot be kept: call [`Machine::stop`](inart_connections::Machine::stop).
    NotKept {
        /// The reason, as a line.
        why: String,
    },
}
