//! Drop counters by reason. Every drop is counted.

/// Packets and messages that a server's agent has dropped or refused. Its sequencer counts its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServerCounters {
    /// Unreadable or invalid packets: a chunk of another length, or beyond the last one.
    pub malformed: u64,
    /// Packets of another incarnation of the worker or the server.
    pub stale_incarnation: u64,
    /// Duplicate chunks.
    pub repeated: u64,
    /// Chunks without a permission.
    pub unasked: u64,
    /// Duplicate pulls.
    pub pulls_repeated: u64,
    /// Pulls without a permission.
    pub not_permitted: u64,
    /// Workers that were refused because of another model.
    pub other_model: u64,
    /// Messages that were not sent, since the worker reads none of those that wait.
    pub unsaid: u64,
    /// Workers that timed out without a connection.
    pub absent: u64,
}

/// Packets and messages that a worker's agent has dropped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WorkerCounters {
    /// Unreadable or invalid packets.
    pub malformed: u64,
    /// Packets of another incarnation of the worker or the server.
    pub stale_incarnation: u64,
    /// Duplicate chunks, permissions and answers, or those of a past permission.
    pub repeated: u64,
    /// Updates that were computed for a permission that was void by then.
    pub superseded: u64,
    /// Chunks that were sent again.
    pub sent_again: u64,
    /// Pushes that were refused: the permission was void.
    pub unasked: u64,
}
