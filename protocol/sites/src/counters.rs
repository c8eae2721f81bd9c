//! Counters of a site.

/// Counters of dropped and forwarded chunks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Chunks forwarded for other sites.
    pub relayed: u64,
    /// Chunks that arrived before their round, and were kept.
    pub early: u64,
    /// Chunks of past rounds.
    pub late: u64,
    /// Chunks of rounds beyond the next one.
    pub ahead: u64,
    /// Chunks of this round by another policy.
    pub other_policy: u64,
    /// Chunks from sites that are not neighbors in the chunk's tree, and chunks with an invalid number.
    pub strange: u64,
    /// Duplicate chunks of this round or the next one.
    pub repeated: u64,
    /// Chunks that could not be sent: the link is down, and no other path exists.
    pub lost: u64,
    /// Chunks that were resent on request.
    pub answered: u64,
    /// Requests for rounds that this site has no chunks of, and requests from sites outside the job.
    pub unanswerable: u64,
}

impl Counters {
    /// Returns the number of chunks for this site that were dropped.
    pub fn dropped(&self) -> u64 {
        self.late + self.ahead + self.other_policy + self.strange + self.repeated
    }
}

/// Counters do not distinguish states of a site: its behavior does not depend on them.
impl std::hash::Hash for Counters {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}
