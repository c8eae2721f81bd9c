//! Timing of a rendezvous.

use std::time::Duration;

/// Time limits of a job's rendezvous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Wait for all hosts of the topology's job before the first view; afterwards a worker and a server
    /// suffice.
    pub gather_within: Duration,
    /// Wait for each kind of hosts after an aborted view, and for hosts to connect to a new view.
    pub rejoin_timeout: Duration,
    /// Wait at a stop point for connected workers that still compute, and until all workers have agreed on
    /// one.
    pub hold_within: Duration,
    /// Time after which a disconnected host, or a waiting one that stopped asking, counts as gone.
    pub gone_after: Duration,
    /// Pause before a failed formation is retried.
    pub retry_after: Duration,
    /// Number of tensors that a worker may start while a stop point is announced; doubles whenever it was
    /// too small.
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
