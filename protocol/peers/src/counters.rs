//! Drop counters by reason, and counters of repairs.

/// Counters of a receiver. Every arrival is a chunk that was missing, or counted here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct ReceiverCounters {
    /// Duplicate chunks.
    pub repeated: u64,
    /// Chunks and messages of an older round than a known one, or of a withdrawn round.
    pub late: u64,
    /// Chunks and messages from ranks outside the job, or with the peer's own rank.
    pub unknown_senders: u64,
    /// Chunks out of the update's range, or of another length.
    pub misfits: u64,
    /// Updates that were started and never completed: a newer one arrived, or the sender withdrew it or
    /// failed.
    pub abandoned: u64,
    /// Complete updates.
    pub complete: u64,
    /// Messages that requested chunks.
    pub asks: u64,
}

/// Counters of a sender.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct SenderCounters {
    /// Chunks sent to all receivers.
    pub chunks: u64,
    /// Chunks sent again on request.
    pub repairs: u64,
    /// Polls of receivers.
    pub polls: u64,
    /// Messages about a past round, or from a peer that is no receiver; requests for chunks are answered.
    pub late: u64,
    /// Requests for nonexistent chunks.
    pub misfits: u64,
    /// Receivers that timed out or were too slow.
    pub given_up: u64,
    /// Chunks that a connection could not deliver.
    pub failed: u64,
}

/// Counters of [`Members`](crate::Members): arrivals that reach neither a sender nor a receiver.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Refused {
    /// Arrivals of another job.
    pub other_job: u64,
    /// Arrivals of another plan version.
    pub other_plan_version: u64,
    /// Arrivals from another incarnation of a peer than the member, or for another incarnation of this one.
    pub stale_incarnation: u64,
    /// Arrivals from a rank outside the job, with this peer's own rank, or with another rank than the
    /// connection's.
    pub unknown_senders: u64,
    /// Frames for other peers.
    pub misdelivered: u64,
    /// Invalid frames and messages.
    pub malformed: u64,
}
