//! A server's measurements of a worker.

use std::time::Duration;

use crate::batches::Batch;
use crate::part::average;

/// Times of one worker.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Timing {
    /// Start of the server's wait for a request, a pull or a push.
    pub awaited_since: Option<Duration>,
    pulled_at: Option<Duration>,
    pushed_at: Option<Duration>,
    /// Mean time from the start of the pull to the arrival of the push: activity without waits.
    pub active: Option<Duration>,
    /// Mean time of activity with the first batch.
    own: Option<Duration>,
    /// Last batch of the worker.
    batch: u32,
    pub blocked: Blocked,
}

/// Waits of a worker between its pushes and its next pulls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Blocked {
    /// Total wait.
    pub total: Duration,
    /// Number of pulls after a push.
    pub pulls: u64,
}

impl Timing {
    pub fn permitted(&mut self, batch: u32, now: Duration) {
        self.awaited_since = Some(now);
        self.batch = batch;
    }

    pub fn pulled(&mut self, now: Duration) {
        self.pulled_at = Some(now);
        if let Some(pushed) = self.pushed_at.take() {
            self.blocked.total += now.saturating_sub(pushed);
            self.blocked.pulls += 1;
        }
    }

    pub fn pushed(&mut self, of: &Batch, now: Duration) {
        self.pushed_at = Some(now);
        self.awaited_since = Some(now);
        let Some(pulled) = self.pulled_at.take() else { return };
        let took = now.saturating_sub(pulled);
        self.active = Some(average(self.active, took));
        self.own = Some(average(self.own, took.saturating_sub(of.beyond(self.batch))));
    }

    /// Returns the time of activity with the first batch.
    pub fn own(&self) -> Option<Duration> {
        self.own
    }

    /// Returns the last batch of the worker.
    pub fn batch(&self) -> u32 {
        self.batch
    }

    /// Takes a request: the worker waits for the server.
    pub fn asked(&mut self) {
        self.awaited_since = None;
    }

    /// Restarts the worker's measurement: earlier activity is void.
    pub fn joined(&mut self, now: Duration) {
        self.left();
        self.awaited_since = Some(now);
    }

    /// Ends the measurement of a worker that has left.
    pub fn left(&mut self) {
        (self.awaited_since, self.pulled_at, self.pushed_at) = (None, None, None);
    }
}
