//! Table of timers.

use core::time::Duration;

use crate::Instant;

/// Timer of a state machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timer {
    /// The rate allows the next frame.
    Pace,
    /// Missing result of a chunk while later ones have theirs.
    Overdue,
    /// Silence.
    Probe,
    /// A peer has been silent too long.
    PeerTimeout,
    /// Next keep-alive to a peer.
    KeepAlive,
}

/// Expiry of each timer, if it is set.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TimerTable([Option<Instant>; 5]);

impl TimerTable {
    pub(crate) fn set(&mut self, timer: Timer, at: Instant) {
        self.0[timer as usize] = Some(at);
    }

    pub(crate) fn clear(&mut self, timer: Timer) {
        self.0[timer as usize] = None;
    }

    /// Sets a timer to `at` unless it expires before that.
    pub(crate) fn set_at_latest(&mut self, timer: Timer, at: Instant) {
        let entry = &mut self.0[timer as usize];
        *entry = Some(entry.map_or(at, |set| set.min(at)));
    }

    pub(crate) fn is_due(&self, timer: Timer, now: Instant) -> bool {
        self.0[timer as usize].is_some_and(|at| at <= now)
    }

    /// Clears the timer if it is due, and returns how late it is.
    pub(crate) fn take_expired(&mut self, timer: Timer, now: Instant) -> Option<Duration> {
        let at = self.0[timer as usize].take_if(|at| *at <= now)?;
        Some(now.since(at))
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.0.iter().flatten().min().copied()
    }
}
