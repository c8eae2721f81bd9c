//! A sender's state of one receiver.

use std::time::Duration;

use crate::ranges::Ranges;

/// Phase of a receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum ReceiverPhase {
    /// No completion reported yet.
    Waited,
    /// Completion reported.
    Complete,
    /// Withdrawn by the sender.
    Withdrawn,
    /// Timed out, or too slow.
    GivenUp,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct ReceiverState {
    pub phase: ReceiverPhase,
    /// Requested chunks that were not sent since; with copies by the sender, all unsent chunks.
    pub pending: Ranges,
    /// Time of the last message, or of the first possible one.
    pub last_heard: Duration,
    /// Time of the next poll.
    pub poll_at: Duration,
    /// Polls since the last message.
    pub polls: u32,
    /// Chunks in flight on the receiver's connection.
    pub under_way: usize,
    /// Earliest time of the next chunk after a failure of the connection.
    pub not_before: Duration,
    /// Time at which the receiver reported completion.
    pub completed: Option<Duration>,
    /// Time at which the task's rate permits the next chunk; with copies by a switch, any time.
    pub due: Duration,
}

/// Most doublings of the time between polls.
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

    /// Returns when the next chunk may leave.
    pub fn may_at(&self) -> Duration {
        self.not_before.max(self.due)
    }

    /// Takes note of a leaving chunk, which takes `copy` at the task's rate. A delay is compensated for up to
    /// a window of chunks: the connection prevents floods.
    pub fn take_turn(&mut self, copy: Duration, window: usize, now: Duration) {
        let credit = copy.saturating_mul(window.try_into().unwrap_or(u32::MAX));
        self.due = self.due.max(now.saturating_sub(credit)).saturating_add(copy);
    }

    /// Returns whether all chunks known to be missing were sent.
    pub fn is_served(&self) -> bool {
        self.pending.is_empty() && self.under_way == 0
    }

    /// Takes note of a message from the receiver.
    pub fn observe(&mut self, now: Duration) {
        self.last_heard = self.last_heard.max(now);
        self.polls = 0;
    }

    /// Schedules the next poll after all chunks were sent, or after a poll.
    pub fn expect(&mut self, poll: Duration, now: Duration) {
        self.poll_at = now.saturating_add(poll.saturating_mul(1 << self.polls.min(MOST_DOUBLINGS)));
    }
}
