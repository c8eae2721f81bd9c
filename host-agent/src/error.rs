//! Errors of hosts.

use std::io;

use inart_ethernet::PortError;
use inart_protocol_aggregation::{AssignmentError, Failure};

/// Reason why a host agent cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Invalid assignment, or one without this host.
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
        /// Interface.
        interface: String,
        /// Error of the interface.
        source: io::Error,
    },
    /// No worker of a server's job.
    #[error("no worker has joined for {seconds:.0} s; start {}, and check interfaces and the plan on the switches", workers.join(", "))]
    NoWorkers {
        /// Waiting time.
        seconds: f64,
        /// All workers.
        workers: Vec<String>,
    },
    /// More tensors were started than may be in flight.
    #[error("{most} tensors are in flight; wait for one before the next is started")]
    TooManyTensors {
        /// Limit.
        most: usize,
    },
    /// The thread that drives the worker panicked.
    #[error("the thread that drives this worker panicked ({0}); this is a defect of InArt: report it")]
    Panicked(String),
    /// Use in a fork of the process that created the worker.
    #[error(
        "this process was forked from the one that joined the job, and only that one can sum: join in the \
         process that sums, after it was forked"
    )]
    Forked,
    /// Earlier error that ended the host's agent.
    #[error("{0}")]
    Ended(String),
}

impl Error {
    /// Creates an error from the operating system's error of a transport.
    pub(crate) fn io(interface: &str, source: io::Error) -> Self {
        Self::Io { interface: interface.into(), source }
    }
}
