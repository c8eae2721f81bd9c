//! Events of processes, and which of the processes was killed when.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use inart_ps_agent::Checkpoint;
use inart_report::{PsServerEnd, WorkerSent};

/// An event, and how often its process had been started before.
#[derive(Debug, Clone)]
pub struct OfIncarnation<E> {
    pub incarnation: usize,
    pub event: E,
}

impl<E> Deref for OfIncarnation<E> {
    type Target = E;

    fn deref(&self) -> &E {
        &self.event
    }
}

/// An update that a worker computed.
pub type Sent = OfIncarnation<WorkerSent>;

/// An update that arrived at the server.
pub type Pushed = OfIncarnation<inart_report::Pushed>;
/// Updates that the server applied.
pub type Applied = OfIncarnation<inart_report::Applied>;

/// The time of a worker's event.
#[derive(Debug, Clone)]
pub struct Moment {
    pub worker: String,
    /// In nanoseconds.
    pub at_ns: u64,
}

/// A server that was killed and started again.
#[derive(Debug, Clone)]
pub struct Restart {
    /// Time of the restart.
    pub at_ns: u64,
    /// What the one before had kept; none if it had no version but the first.
    pub kept: Option<Checkpoint>,
}

/// Lines that processes have printed.
#[derive(Debug, Default)]
pub struct Records {
    /// By worker and iteration, each copy.
    pub sent: BTreeMap<(usize, u64), Vec<Sent>>,
    pub pushed: Vec<Pushed>,
    pub applied: Vec<Applied>,
    /// Workers that began to pull.
    pub pulls: Vec<Moment>,
    /// Workers that the server evicted.
    pub gone: Vec<Moment>,
    pub counted: Option<PsServerEnd>,
    /// Processes of workers that were killed: the worker, and the number of its earlier starts.
    pub killed: BTreeSet<(usize, usize)>,
    /// Restarts of the server.
    pub restarts: Vec<Restart>,
    /// Processes of workers that were started again.
    pub returned: usize,
}
