//! What was dropped, and why; what was done for those who lacked something.

/// Of a receiver. Everything that comes in is a chunk that was missing, or counted here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct ReceiverCounters {
    /// Chunks that were here already.
    pub repeated: u64,
    /// Chunks and messages of an older round than one that is known, or of a round that was withdrawn.
    pub late: u64,
    /// Chunks and messages from ranks that are not in the job, or that this peer is itself.
    pub unknown_senders: u64,
    /// Chunks that an update of that sender does not have, or of another length.
    pub misfits: u64,
    /// Updates that were begun and never complete: a newer one came, the sender withdrew it or is gone.
    pub abandoned: u64,
    /// Updates that arrived whole.
    pub complete: u64,
    /// Messages in which this receiver asked for chunks.
    pub asks: u64,
}

/// Of a sender.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct SenderCounters {
    /// Chunks sent to all receivers.
    pub chunks: u64,
    /// Chunks sent again to those who asked.
    pub repairs: u64,
    /// Receivers that were asked what they lack.
    pub polls: u64,
    /// Messages about a round that is over, or from a peer that is no receiver; what asks for chunks is
    /// answered.
    pub late: u64,
    /// Messages that ask for chunks that there are not.
    pub misfits: u64,
    /// Receivers of whom nothing was heard for too long, or who were too slow.
    pub given_up: u64,
    /// Chunks that a connection could not deliver.
    pub failed: u64,
}

/// Of [`Members`](crate::Members): what never reaches a sender or a receiver.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Refused {
    /// Of another job.
    pub other_job: u64,
    /// Of another installed plan.
    pub other_plan_version: u64,
    /// From another incarnation of a peer than the one that takes part, or to another incarnation of this
    /// one.
    pub stale_incarnation: u64,
    /// From a rank that is not in the job, that is this peer's own, or that is not the connection's.
    pub unknown_senders: u64,
    /// For others: this peer is not among the receivers.
    pub misdelivered: u64,
    /// No frame or message at all.
    pub malformed: u64,
}
