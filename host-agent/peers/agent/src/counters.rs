//! What a peer and a coordinator have dropped.

/// Of a peer, beside what its sender, its receiver and its members count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PeerCounters {
    /// Messages of a coordinator that are none, or name a peer that there is not.
    pub malformed: u64,
    /// What a coordinator said that is not in charge any more.
    pub old_term: u64,
    /// Choices for a round that is over, or older than one that is known.
    pub old_choice: u64,
    /// Receivers that a choice would add to a multicast that goes on.
    pub added: u64,
    /// Rounds whose receivers are the last ones, because no choice came.
    pub rounds_with_previous_receivers: u64,
    /// Receivers added by the rule of k.
    pub forced: u64,
    /// Whole updates that a newer one of the same peer replaced before they were averaged, or of a round that
    /// is averaged already.
    pub superseded: u64,
    /// Whole updates of rounds that their sender cannot be in yet, and chunks and messages of rounds that
    /// there are not: they were not held.
    pub ahead: u64,
    /// Updates that did not come whole, beyond those that are named at the beginning of a round.
    pub unnamed: u64,
    /// Updates with a NaN or an infinity, or of another length: they were not averaged.
    pub unfit: u64,
    /// Notices that are none.
    pub unknown_notices: u64,
    /// Refusals by a coordinator with another job configuration.
    pub other_job: u64,
    /// Times that a peer was taken for gone.
    pub gone: u64,
    /// Times that one that was taken for gone was there.
    pub back: u64,
    /// Rounds in which it sent nothing, since it had begun anew and had no model of the others.
    pub passed: u64,
    /// Times that it had begun anew, no other sent it a model, and it went on from the weights of its
    /// program.
    pub restarted_from_init: u64,
}

/// Of a coordinator.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CoordinatorCounters {
    /// Messages that are none, or name a peer that there is not.
    pub malformed: u64,
    /// Reports about a round that is over.
    pub late: u64,
    /// Samples without bits or seconds.
    pub useless: u64,
    /// Choices of receivers handed out.
    pub choices: u64,
    /// Choices that could not be made: peers send to the last receivers.
    pub failed: u64,
}
