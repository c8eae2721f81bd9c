//! What can go wrong at a host.

use std::io;

use inart_ethernet::PortError;
use inart_protocol_aggregation::{AssignmentError, Failure};

/// Why a host agent cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The assignment contradicts itself, or has no such host.
    #[error("assignment: {0}")]
    Assignment(#[from] AssignmentError),
    /// The interface cannot be used.
    #[error(transparent)]
    Port(#[from] PortError),
    /// The job ends without its sum.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// The operating system refuses a read, a write or a wait.
    #[error("interface {interface}: {source}")]
    Io {
        /// The interface.
        interface: String,
        /// What it says.
        source: io::Error,
    },
    /// No worker of a server's job.
    #[error("no worker has joined for {seconds:.0} s; start {}, and check interfaces and the plan on the switches", workers.join(", "))]
    NoWorkers {
        /// For how long.
        seconds: f64,
        /// All workers.
        workers: Vec<String>,
    },
    /// More tensors were started than may be in flight.
    #[error("{most} tensors are in flight; wait for one before the next is started")]
    TooManyTensors {
        /// As many may be.
        most: usize,
    },
    /// The thread that drives the worker panicked.
    #[error("the thread that drives this worker panicked ({0}); this is a defect of InArt: report it")]
    Panicked(String),
    /// This process is a fork of the one that made the worker.
    #[error(
        "this process was forked from the one that joined the job, and only that one can sum: join in the \
         process that sums, after it was forked"
    )]
    Forked,
    /// What ended the host's agent; an earlier call has returned it, too.
    #[error("{0}")]
    Ended(String),
}

impl Error {
    /// What the operating system said about a transport.
    pub(crate) fn io(interface: &str, source: io::Error) -> Self {
        Self::Io { interface: interface.into(), source }
    }
}
