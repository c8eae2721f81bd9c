//! What is known of one receiver.

use std::time::Duration;

use crate::ranges::Ranges;

/// How it ends for a receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum ReceiverPhase {
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
pub(super) struct ReceiverState {
    pub phase: ReceiverPhase,
    /// What it asked for and was not sent since; with copies by the sender, everything that is not sent.
    pub pending: Ranges,
    /// When something was heard of it last, or could first be.
    pub last_heard: Duration,
    /// When it is asked what it lacks.
    pub poll_at: Duration,
    /// How often it was asked since it was heard of.
    pub polls: u32,
    /// Chunks on its connection.
    pub under_way: usize,
    /// Nothing is sent to it before: its connection has just failed.
    pub not_before: Duration,
    /// When it said that it has the update.
    pub completed: Option<Duration>,
    /// When the next chunk to it may leave by the task's rate; with copies by a switch, any time.
    pub due: Duration,
}

/// Polls are put off by doubling so often at most.
const MOST_DOUBLINGS: u32 = 3;

impl ReceiverState {
    pub fn new(pending: Ranges, due: Duration, now: Duration) -> Self {
        ReceiverState {
            phase: ReceiverPhase::Waited,
            pending,
            last_heard: now,
            poll_at: now,
            polls: 0,
            under_way: 0,
            not_before: now,
            completed: None,
            due,
        }
    }

    /// When the next chunk may leave.
    pub fn may_at(&self) -> Duration {
        self.not_before.max(self.due)
    }

    /// A chunk leaves, which takes that long at the task's rate. What was held up is made good, as far as a
    /// window of chunks goes: its connection keeps it from flooding anybody.
    pub fn take_turn(&mut self, copy: Duration, window: usize, now: Duration) {
        let credit = copy.saturating_mul(window.try_into().unwrap_or(u32::MAX));
        self.due = self.due.max(now.saturating_sub(credit)).saturating_add(copy);
    }

    /// Whether it was sent all that it is known to lack.
    pub fn is_served(&self) -> bool {
        self.pending.is_empty() && self.under_way == 0
    }

    /// Something was heard of it.
    pub fn observe(&mut self, now: Duration) {
        self.last_heard = self.last_heard.max(now);
        self.polls = 0;
    }

    /// Everything was sent to it, or it was asked: it has that long to answer.
    pub fn expect(&mut self, poll: Duration, now: Duration) {
        self.poll_at = now.saturating_add(poll.saturating_mul(1 << self.polls.min(MOST_DOUBLINGS)));
    }
}
