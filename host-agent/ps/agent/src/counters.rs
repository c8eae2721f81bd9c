//! What was dropped, by reason. Nothing is dropped without being counted.

/// What a server's agent has dropped or refused. What its sequencer has is counted there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServerCounters {
    /// Packets that cannot be read, or make no sense: a chunk of another length, or beyond the last one.
    pub malformed: u64,
    /// Packets of another incarnation of the worker or the server.
    pub stale_incarnation: u64,
    /// Chunks that had arrived before.
    pub repeated: u64,
    /// Chunks that no permission stands behind.
    pub unasked: u64,
    /// Pulls that had come before.
    pub pulls_repeated: u64,
    /// Pulls that no permission stands behind.
    pub not_permitted: u64,
    /// Workers that were not taken in: their model is another one.
    pub other_model: u64,
    /// Messages that were not sent, since the worker takes none of those that wait.
    pub unsaid: u64,
    /// Workers that were given up, as there was no connection for too long.
    pub absent: u64,
}

/// What a worker's agent has dropped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WorkerCounters {
    /// Packets that cannot be read, or make no sense.
    pub malformed: u64,
    /// Packets of another incarnation of the worker or the server.
    pub stale_incarnation: u64,
    /// Chunks, permissions and answers that had come before, or are of a permission that is over.
    pub repeated: u64,
    /// Updates that were computed for a permission that was void by then.
    pub superseded: u64,
    /// Chunks that were sent again.
    pub sent_again: u64,
    /// Pushes that were not taken: the permission was void.
    pub unasked: u64,
}
