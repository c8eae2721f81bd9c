//! How long is waited.

use std::time::Duration;

/// How long a job's rendezvous waits, and for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Before the first view, for all hosts of the topology's job; then for a worker and a server.
    pub gather_within: Duration,
    /// After a view was aborted, for each kind of its hosts; and for hosts to begin a view that was formed.
    pub rejoin_timeout: Duration,
    /// At a stop point, for workers that are connected and still compute; and until all have agreed on one.
    pub hold_within: Duration,
    /// A host without a connection, or that waits and has not asked again, is gone after this.
    pub gone_after: Duration,
    /// Before a view is planned again that could not be.
    pub retry_after: Duration,
    /// Tensors that a worker may start while it is told of a stop point; doubled whenever that was too few.
    pub margin: u32,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            gather_within: Duration::from_secs(10),
            rejoin_timeout: Duration::from_secs(3),
            hold_within: Duration::from_secs(60),
            gone_after: Duration::from_secs(2),
            retry_after: Duration::from_secs(1),
            margin: 2,
        }
    }
}
