//! What is known of one receiver.

use std::time::Duration;

use crate::ranges::Ranges;

/// How it ends for a receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Fate {
    /// It has not said that it has the update.
    Waited,
    /// It said that it has.
    Complete,
    /// It is not to have it any more.
    Withdrawn,
    /// Nothing was heard of it for too long, or it was too slow.
    GivenUp,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Standing {
    pub fate: Fate,
    /// What it asked for and was not sent since; with copies by the sender, everything that is not sent.
    pub pending: Ranges,
    /// When something was heard of it last, or could first be.
    pub heard: Duration,
    /// When it is asked what it lacks.
    pub poll_at: Duration,
    /// How often it was asked since it was heard of.
    pub polls: u32,
    /// Chunks on its connection.
    pub under_way: usize,
    /// Nothing is sent to it before: its connection has just failed.
    pub not_before: Duration,
}

/// Polls are put off by doubling so often at most.
const MOST_DOUBLINGS: u32 = 3;

impl Standing {
    pub fn new(pending: Ranges, now: Duration) -> Self {
        Standing {
            fate: Fate::Waited,
            pending,
            heard: now,
            poll_at: now,
            polls: 0,
            under_way: 0,
            not_before: now,
        }
    }

    /// Whether it was sent all that it is known to lack.
    pub fn is_served(&self) -> bool {
        self.pending.is_empty() && self.under_way == 0
    }

    /// Something was heard of it.
    pub fn hear(&mut self, now: Duration) {
        self.heard = self.heard.max(now);
        self.polls = 0;
    }

    /// Everything was sent to it, or it was asked: it has that long to answer.
    pub fn expect(&mut self, poll: Duration, now: Duration) {
        self.poll_at = now.saturating_add(poll.saturating_mul(1 << self.polls.min(MOST_DOUBLINGS)));
    }
}
