//! What a server measures of a worker.

use std::time::Duration;

use crate::batches::Batch;
use crate::part::average;

/// Times of one worker.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Timing {
    /// Since when the server waits for something of it: a request, a pull or a push.
    pub awaited_since: Option<Duration>,
    pulled_at: Option<Duration>,
    pushed_at: Option<Duration>,
    /// From the start of the pull to the arrival of the push, averaged: what it does, without what it waits.
    pub active: Option<Duration>,
    /// The same, with the first batch.
    own: Option<Duration>,
    /// The batch that it was given last.
    batch: u32,
    pub blocked: Blocked,
}

/// How long a worker waited between its push and its next pull.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Blocked {
    /// In all.
    pub total: Duration,
    /// How often it has pulled after a push.
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

    /// What it takes with its first batch.
    pub fn own(&self) -> Option<Duration> {
        self.own
    }

    /// The batch that it was given last.
    pub fn batch(&self) -> u32 {
        self.batch
    }

    /// It has asked, and waits for the server.
    pub fn asked(&mut self) {
        self.awaited_since = None;
    }

    /// It begins anew: what it was doing is over.
    pub fn joined(&mut self, now: Duration) {
        self.left();
        self.awaited_since = Some(now);
    }

    /// It is gone.
    pub fn left(&mut self) {
        (self.awaited_since, self.pulled_at, self.pushed_at) = (None, None, None);
    }
}
