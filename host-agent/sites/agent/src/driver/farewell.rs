//! Final reports in flight.

use super::{Driver, DriverError, Peer};
use crate::message::{Body, Ended};

impl Driver {
    /// Starts to report to all neighbors, connected or not, why the job has ended or cannot start.
    pub(super) fn begin_final_report(&mut self, error: &DriverError) {
        let (reason, but) = match error {
            DriverError::Differs { site, reason: Some(reason), .. } => (reason.clone(), Some(site)),
            error => match error.for_all() {
                Some(reason) => (reason, None),
                None => return,
            },
        };
        let setup = self.setup.clone();
        let neighbors = setup.my_neighbors().iter().copied();
        let neighbors = neighbors.filter(|site| Some(&setup.name(*site)) != but);
        self.final_report.begin(Ended { reason, is_before_start: but.is_some() }, neighbors);
    }

    /// Sends the final report to connected neighbors that do not have it.
    pub(super) fn send_final_report(&mut self) {
        let due = self.final_report.due(|site| self.up.contains(&Peer::Site(site)));
        let Some((message, sites)) = due else { return };
        for site in sites {
            if let Some(id) = self.send(Peer::Site(site), Body::Ended(message.clone()), i32::MAX) {
                self.final_report.sending(site, id);
            }
        }
    }

    /// Whether all neighbors have the final report, if one is needed.
    pub fn is_final_report_delivered(&self) -> bool {
        self.final_report.are_notified()
    }
}
