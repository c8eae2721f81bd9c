//! Counters of peers and coordinators.

/// Counters of a peer, next to those of its sender, its receiver and its members.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PeerCounters {
    /// Invalid messages of a coordinator, or messages that name a nonexistent peer.
    pub malformed: u64,
    /// Messages of a coordinator that is no longer in charge.
    pub old_term: u64,
    /// Choices for a past round, or older than a known one.
    pub old_choice: u64,
    /// Receivers that a choice would add to an active multicast.
    pub added: u64,
    /// Rounds that used the previous receivers because no choice arrived.
    pub rounds_with_previous_receivers: u64,
    /// Receivers added by the fairness bound k.
    pub forced: u64,
    /// Complete updates that a newer one of the same peer replaced before averaging, or whose round is
    /// already averaged.
    pub superseded: u64,
    /// Complete updates of rounds that their sender cannot have reached, and chunks and messages of
    /// nonexistent rounds; dropped.
    pub ahead: u64,
    /// Incomplete updates beyond those listed at the start of a round.
    pub unnamed: u64,
    /// Updates with a NaN or an infinity, or of another length; not averaged.
    pub unfit: u64,
    /// Invalid notices.
    pub unknown_notices: u64,
    /// Refusals by a coordinator with another job configuration.
    pub other_job: u64,
    /// Times that a peer was declared failed.
    pub gone: u64,
    /// Times that a peer declared failed was still alive.
    pub back: u64,
    /// Rounds without an own update, after a restart without a model of the others.
    pub passed: u64,
    /// Restarts after which no other peer sent a model, so that the peer resumed from its program's weights.
    pub restarted_from_init: u64,
}

/// Counters of a coordinator.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CoordinatorCounters {
    /// Invalid messages, or messages that name a nonexistent peer.
    pub malformed: u64,
    /// Reports about a past round.
    pub late: u64,
    /// Samples without bits or seconds.
    pub useless: u64,
    /// Choices sent.
    pub choices: u64,
    /// Choices that failed; peers send to their last receivers.
    pub failed: u64,
}
