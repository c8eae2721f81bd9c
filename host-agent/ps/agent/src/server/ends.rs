//! When a server's process ends, and for how long it may be alone.

use std::time::Duration;

use super::ServerAgent;
use crate::sequencer::Sequencer;

/// Time for connected workers to learn that the training is over.
const LONGEST_END: Duration = Duration::from_secs(5);

/// End of a process, from the moment on from which it only notifies workers.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ends {
    since: Option<Duration>,
    /// Whether the time is over that workers have.
    is_late: bool,
    /// Whether the host knows that the process is over.
    is_over: bool,
}

impl Ends {
    pub fn begin(&mut self, now: Duration) {
        self.since.get_or_insert(now);
    }

    fn look(&mut self, now: Duration) {
        self.is_late |= self.since.is_some_and(|since| now > since + LONGEST_END);
    }
}

/// Time without any worker.
#[derive(Debug, Clone, Copy, Default)]
pub struct Alone {
    /// Longest time; no limit unless set.
    pub patience: Option<Duration>,
    pub since: Option<Duration>,
}

impl Alone {
    pub fn down(&mut self, is_alone: bool, now: Duration) {
        if is_alone && self.patience.is_some() {
            self.since.get_or_insert(now);
        }
    }

    /// The time without a worker, once, if it is too long.
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

impl<S: Sequencer> ServerAgent<S> {
    /// Sets for how long no worker may be connected; no limit unless set. Then the server reports it.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.alone = Alone { patience: Some(patience), since: Some(Duration::ZERO) };
        self
    }

    /// Whether the process may end now; `true` once.
    pub(super) fn may_go(&mut self, now: Duration) -> bool {
        if self.is_closing {
            self.ends.begin(now);
        }
        self.ends.look(now);
        let may = match self.ends.since {
            None => false,
            Some(_) if self.stopped.is_some() => self.has_told() || self.ends.is_late,
            Some(_) => self.is_over() || self.ends.is_late && self.is_idle(),
        };
        may && !std::mem::replace(&mut self.ends.is_over, true)
    }
}
