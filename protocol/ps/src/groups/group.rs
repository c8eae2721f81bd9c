//! One group, and the updates that it waits for.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::part::Part;

/// A group's round.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Clients that take part and are not excluded.
    pub size: usize,
    /// Round that is being collected.
    pub round: u64,
    /// Clients whose updates have arrived.
    pub collected: BTreeSet<u32>,
    /// Time of the last aggregation; at first, of the server's start.
    pub last: Duration,
    /// Time at which enough updates had arrived.
    pub full_at: Option<Duration>,
    /// Number of excluded clients.
    pub excluded: usize,
}

impl Group {
    pub fn new(now: Duration) -> Self {
        Group { size: 0, round: 0, collected: BTreeSet::new(), last: now, full_at: None, excluded: 0 }
    }

    /// Returns whether enough updates have arrived.
    pub fn is_full(&self, fraction: Part) -> bool {
        !self.collected.is_empty() && self.collected.len() >= fraction.at_least_of(self.size)
    }

    /// Returns whether no updates can be expected.
    pub fn is_empty(&self) -> bool {
        self.size == 0 && self.collected.is_empty()
    }

    /// Ends the round. Returns the clients whose updates were in it.
    pub fn next_round(&mut self, now: Duration) -> BTreeSet<u32> {
        self.round += 1;
        self.last = now;
        self.full_at = None;
        std::mem::take(&mut self.collected)
    }
}
