//! The end of a server's process, and its time without workers.

use std::time::Duration;

/// Time for connected workers to receive the end of the training.
const LONGEST_END: Duration = Duration::from_secs(5);

/// End of a process, once it only notifies workers.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ends {
    pub since: Option<Duration>,
    /// Whether the workers' time is over.
    pub is_late: bool,
    /// Whether the host knows that the process is over.
    pub is_over: bool,
}

impl Ends {
    pub fn begin(&mut self, now: Duration) {
        self.since.get_or_insert(now);
    }

    pub fn look(&mut self, now: Duration) {
        self.is_late |= self.since.is_some_and(|since| now > since + LONGEST_END);
    }
}

/// Time without any worker.
#[derive(Debug, Clone, Copy, Default)]
pub struct Alone {
    /// Longest time without a worker; no limit unless set.
    pub patience: Option<Duration>,
    pub since: Option<Duration>,
}

impl Alone {
    pub fn down(&mut self, is_alone: bool, now: Duration) {
        if is_alone && self.patience.is_some() {
            self.since.get_or_insert(now);
        }
    }

    /// Returns the time without a worker, once, if it is too long.
    pub fn take(&mut self, now: Duration) -> Option<Duration> {
        let waited = now.saturating_sub(self.since?);
        (waited >= self.patience?).then(|| {
            self.since = None;
            waited
        })
    }

    pub fn wake_at(&self) -> Option<Duration> {
        Some(self.since? + self.patience?)
    }
}
