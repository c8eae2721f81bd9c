//! Before a peer takes part: a bounded wait for the coordinator.

use std::time::Duration;

use super::{Output, Peer, Phase};
use crate::admission_error::AdmissionError;

impl Peer {
    /// Ends if no coordinator has admitted the peer in time.
    pub(super) fn wait_for_word(&mut self, now: Duration) {
        let since = *self.meeting_since.get_or_insert(now);
        let waited = now.saturating_sub(since);
        if waited >= self.setup.meeting_patience {
            self.reject(AdmissionError::NoCoordinator { rank: self.setup.me, waited });
        }
    }

    /// Returns when the wait ends.
    pub(super) fn waits_until(&self) -> Duration {
        self.meeting_since.map_or(Duration::ZERO, |since| since.saturating_add(self.setup.meeting_patience))
    }

    /// Handles a coordinator's refusal. A peer that already takes part ignores it.
    pub(super) fn other_job(&mut self, why: String) {
        self.counters.other_job += 1;
        if self.phase == Phase::Meeting {
            self.reject(AdmissionError::OtherJob { rank: self.setup.me, why });
        }
    }

    fn reject(&mut self, why: AdmissionError) {
        self.phase = Phase::Outside;
        self.outputs.push_back(Output::Rejected(why));
    }
}
