//! Before a peer takes part: it waits for a coordinator's word, but not for ever.

use std::time::Duration;

use super::{Output, Peer, Phase};
use crate::admission_error::AdmissionError;

impl Peer {
    /// Ends if nobody has taken it in for too long.
    pub(super) fn wait_for_word(&mut self, now: Duration) {
        let since = *self.meeting_since.get_or_insert(now);
        let waited = now.saturating_sub(since);
        if waited >= self.setup.meeting_patience {
            self.stay_out(AdmissionError::Nobody { rank: self.setup.me, waited });
        }
    }

    /// When waiting ends.
    pub(super) fn waits_until(&self) -> Duration {
        self.meeting_since.map_or(Duration::ZERO, |since| since.saturating_add(self.setup.meeting_patience))
    }

    /// A coordinator does not know this job. Whoever takes part already does not mind.
    pub(super) fn other_job(&mut self, why: String) {
        self.counters.other_job += 1;
        if self.phase == Phase::Meeting {
            self.stay_out(AdmissionError::OtherJob { rank: self.setup.me, why });
        }
    }

    fn stay_out(&mut self, why: AdmissionError) {
        self.phase = Phase::Outside;
        self.outputs.push_back(Output::Rejected(why));
    }
}
