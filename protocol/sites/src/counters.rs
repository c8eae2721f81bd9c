//! What a site counts.

/// What a site has dropped, and what it has passed on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Chunks passed on for others.
    pub relayed: u64,
    /// Chunks that came before their round, and were kept.
    pub early: u64,
    /// Chunks of rounds that are over.
    pub late: u64,
    /// Chunks of rounds further ahead than the next.
    pub ahead: u64,
    /// Chunks of this round by another policy.
    pub other_policy: u64,
    /// Chunks from sites that are no neighbours in the chunk's tree, and chunks that there are not.
    pub strange: u64,
    /// Second copies of chunks of this round or the next.
    pub repeated: u64,
    /// Chunks that could not be sent: the link is down, and there is no other way.
    pub lost: u64,
    /// Chunks sent again because a site asked for them.
    pub answered: u64,
    /// Questions for rounds of which this site has nothing, and from sites that are not of the job.
    pub unanswerable: u64,
}

impl Counters {
    /// Returns the number of chunks for this site that were dropped.
    pub fn dropped(&self) -> u64 {
        self.late + self.ahead + self.other_policy + self.strange + self.repeated
    }
}

/// What was counted does not tell states of a site apart: nothing that it does hangs on it.
impl std::hash::Hash for Counters {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}
