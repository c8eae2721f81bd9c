//! Final reports in flight.

use super::{Driver, DriverError, Peer};
use crate::message::{Body, Ended};

impl Driver {
    /// Starts to report to all neighbors, connected or not, why the job has ended or cannot start.
    pub(super) fn begin_last_words(&mut self, error: &DriverError) {
        let (told, but) = match error {
            DriverError::Differs { site, told: Some(told), .. } => (told.clone(), Some(site)),
            error => match error.for_all() {
                Some(told) => (told, None),
                None => return,
            },
        };
        let setup = self.setup.clone();
        let neighbors = setup.my_neighbours().iter().copied();
        let neighbors = neighbors.filter(|site| Some(&setup.name(*site)) != but);
        self.last_words.begin(Ended { told, is_before_start: but.is_some() }, neighbors);
    }

    /// Sends the final report to connected neighbors that do not have it.
    pub(super) fn send_last_words(&mut self) {
        let due = self.last_words.due(|site| self.up.contains(&Peer::Site(site)));
        let Some((message, sites)) = due else { return };
        for site in sites {
            if let Some(id) = self.send(Peer::Site(site), Body::Ended(message.clone()), i32::MAX) {
                self.last_words.sending(site, id);
            }
        }
    }

    /// Whether all neighbors have the final report, if one is needed.
    pub fn are_last_words_heard(&self) -> bool {
        self.last_words.are_heard()
    }
}
