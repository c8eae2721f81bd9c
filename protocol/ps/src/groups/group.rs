//! One group: what it waits for.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::part::Part;

/// A group's round.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Clients that take part and are not excluded.
    pub size: usize,
    /// The round that it collects for.
    pub round: u64,
    /// Whose updates are in.
    pub collected: BTreeSet<u32>,
    /// When it was aggregated last; at first, when the server began.
    pub last: Duration,
    /// When enough were in.
    pub full_at: Option<Duration>,
    /// Clients that are excluded.
    pub excluded: usize,
}

impl Group {
    pub fn new(now: Duration) -> Self {
        Group { size: 0, round: 0, collected: BTreeSet::new(), last: now, full_at: None, excluded: 0 }
    }

    /// Whether enough updates are in: a number of them, counted.
    pub fn is_full(&self, fraction: Part) -> bool {
        !self.collected.is_empty() && self.collected.len() >= fraction.at_least_of(self.size)
    }

    /// Whether nothing can be expected of it.
    pub fn is_empty(&self) -> bool {
        self.size == 0 && self.collected.is_empty()
    }

    /// Its round is over; returns whose updates were in it.
    pub fn next_round(&mut self, now: Duration) -> BTreeSet<u32> {
        self.round += 1;
        self.last = now;
        self.full_at = None;
        std::mem::take(&mut self.collected)
    }
}
