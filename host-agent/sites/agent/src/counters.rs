//! What a driver counts beside its site.

/// What was dropped, and how often a site had to ask.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AgentCounters {
    /// Messages that are none, and chunks whose values are not those of the chunk.
    pub malformed: u64,
    /// Messages of sites with other terms, and of processes that are not neighbors.
    pub unknown_senders: u64,
    /// Messages that named another sender than the connection's site, where no plan leads that sender's
    /// messages.
    pub impostors: u64,
    /// Answers to questions that this site has not asked.
    pub unasked: u64,
    /// Messages that would have to go where this site has no link.
    pub astray: u64,
    /// Chunks for other sites that were dropped, because too many wait for the link.
    pub crowded: u64,
    /// Offers that were refused: not newer than the policy in force, not for this network, not asked for.
    pub refused_offers: u64,
    /// Messages that could not be delivered, and were sent again or given up.
    pub failed: u64,
    /// Times that this site asked for what it missed.
    pub asks: u64,
    /// States of other sites that differ from their digest.
    pub wrong_states: u64,
}
