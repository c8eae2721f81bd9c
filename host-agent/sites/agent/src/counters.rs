//! Counters of a driver, in addition to its site's.

/// Counters of dropped messages and of requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AgentCounters {
    /// Messages that cannot be decoded, and chunks with the wrong number of values.
    pub malformed: u64,
    /// Messages of sites with other terms, and of processes that are not neighbors.
    pub unknown_senders: u64,
    /// Messages that named another origin than the connection's site, where no plan routes that origin's
    /// messages.
    pub impostors: u64,
    /// Answers to requests that this site has not sent.
    pub unasked: u64,
    /// Messages whose next hop has no link to this site.
    pub astray: u64,
    /// Chunks for other sites that were dropped because the link's queue is full.
    pub crowded: u64,
    /// Refused offers: not newer than the active policy, not for this network, or not requested.
    pub refused_offers: u64,
    /// Undelivered messages, which were resent or abandoned.
    pub failed: u64,
    /// Number of requests for missing chunks.
    pub asks: u64,
    /// States of other sites that differ from their digest.
    pub wrong_states: u64,
}
