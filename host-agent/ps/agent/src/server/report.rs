//! What a server is told, and what it has its host do.

use std::sync::Arc;
use std::time::Duration;

use inart_protocol_ps::{Overflow, Refusal, WorkerNo};

use crate::chunk::Precision;
use crate::sequencer::Applied;

/// What a server is told.
#[derive(Debug, Clone)]
pub struct ServerSetup {
    /// Its life: another one at each start, and never 0.
    pub incarnation: u32,
    /// A fingerprint of the model.
    pub model: u64,
    /// Values of a chunk; at least 1.
    pub chunk_values: usize,
    /// How values travel.
    pub precision: Precision,
    /// Chunks under way to each worker at most.
    pub window: usize,
    /// By worker, the rate at which the model is sent to it, in bit/s; no limit unless told. There are as
    /// many workers as entries.
    pub rates_bps: Vec<Option<f64>>,
    /// It begins when all workers are there, or with those that are after this time.
    pub gather: Duration,
    /// A worker without a connection for so long takes no part any more.
    pub absence: Duration,
    /// The training is over when all that take part have done so many iterations; never unless told.
    pub iterations: Option<u64>,
}

/// News of a server for its host.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerReport {
    /// A worker, or another incarnation of it, takes part from now on.
    Joined {
        /// Which.
        worker: WorkerNo,
    },
    /// A worker was not taken in.
    Rejected {
        /// Which.
        worker: WorkerNo,
        /// Why.
        why: String,
    },
    /// An update has arrived whole.
    Pushed {
        /// Whose.
        worker: WorkerNo,
        /// Of which iteration.
        iteration: u64,
        /// The version that it was computed from.
        base: u64,
        /// Its values.
        values: Arc<Vec<f32>>,
        /// What is wrong with them, if something is.
        refusal: Option<Refusal>,
    },
    /// The model has a new version.
    Applied(Applied),
    /// An update was dropped in its turn, as its values were refused.
    Discarded {
        /// Whose.
        worker: WorkerNo,
        /// Of which iteration.
        iteration: u64,
        /// Why.
        refusal: Refusal,
    },
    /// A client is left out for its data, for good.
    LeftOut {
        /// Which.
        worker: WorkerNo,
    },
    /// An update of finite values would make the model infinite: call
    /// [`Machine::stop`](inart_connections::Machine::stop).
    Overflow {
        /// The version that it would have made.
        version: u64,
        /// Whose update, and which value.
        overflow: Overflow,
    },
    /// A worker takes no part any more: nothing was heard of it for too long. It may come back.
    Gone {
        /// Which.
        worker: WorkerNo,
    },
    /// A worker has pulled a version for an iteration.
    Pulls {
        /// Which.
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
