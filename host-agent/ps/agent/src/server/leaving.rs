//! The end of a server's process.

use std::time::Duration;

use super::ServerAgent;
use super::ends::Alone;
use crate::sequencer::Sequencer;

impl<S: Sequencer> ServerAgent<S> {
    /// Sets the longest time without a connected worker; no limit unless set. Then the server reports it.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.alone = Alone { patience: Some(patience), since: Some(Duration::ZERO) };
        self
    }

    /// Returns whether the process may end now; `true` once.
    pub(super) fn may_go(&mut self, now: Duration) -> bool {
        if self.is_closing {
            self.ends.begin(now);
        }
        self.ends.look(now);
        let may = match self.ends.since {
            None => false,
            Some(_) if self.stopped.is_some() => self.has_notified() || self.ends.is_late,
            Some(_) => self.is_over() || self.ends.is_late && self.is_idle(),
        };
        may && !std::mem::replace(&mut self.ends.is_over, true)
    }
}
