//! What a driver counts beside its site.

/// What was dropped, and how often a site had to ask.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AgentCounters {
    /// Messages that are none, and chunks whose values are not those of the chunk.
    pub malformed: u64,
    /// Messages from sites of another job, and from who is no site of the job.
    pub strangers: u64,
    /// Offers that were refused: not newer than the policy in force, or not for this site.
    pub refused_offers: u64,
    /// Messages that could not be delivered, and were sent again or given up.
    pub failed: u64,
    /// Times that this site asked for what it missed.
    pub asks: u64,
    /// States of other sites that differ from their digest.
    pub wrong_states: u64,
}
