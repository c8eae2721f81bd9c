//! Delivery of the final report that the job has ended. A site that has just restarted may end before it has
//! connected to its neighbors, and other sites may notify it on the connection of its previous incarnation. A
//! neighbor without a connection is notified when it connects.

use std::collections::{BTreeMap, BTreeSet};

use inart_protocol_sites::SiteNo;

use crate::message::Ended;

/// Final report and the neighbors that still need it.
#[derive(Debug, Default)]
pub(super) struct FinalReport {
    message: Option<Ended>,
    /// Neighbors that are not known to have the report.
    left: BTreeSet<SiteNo>,
    /// Neighbors that received the report, or sent one themselves.
    known: BTreeSet<SiteNo>,
    /// Reports in flight, by message number.
    sent: BTreeMap<u64, SiteNo>,
}

impl FinalReport {
    /// Starts to report to these neighbors that the job has ended or cannot start. The first report wins.
    pub fn begin(&mut self, message: Ended, neighbors: impl Iterator<Item = SiteNo>) {
        if self.message.is_none() {
            self.message = Some(message);
            self.left = neighbors.filter(|site| !self.known.contains(site)).collect();
        }
    }

    /// Records that a report to a neighbor is being sent.
    pub fn sending(&mut self, site: SiteNo, id: u64) {
        self.sent.insert(id, site);
    }

    /// Records that a neighbor has the report.
    pub fn knows(&mut self, site: SiteNo) {
        self.left.remove(&site);
        self.known.insert(site);
    }

    /// Records whether a report was delivered.
    pub fn ended(&mut self, id: u64, is_taken: bool) {
        if let Some(site) = self.sent.remove(&id).filter(|_| is_taken) {
            self.knows(site);
        }
    }

    /// Returns the report and the neighbors that it may be sent to now.
    pub fn due(&self, is_up: impl Fn(SiteNo) -> bool) -> Option<(Ended, Vec<SiteNo>)> {
        let message = self.message.clone()?;
        let under_way: BTreeSet<&SiteNo> = self.sent.values().collect();
        let ready = self.left.iter().filter(|site| is_up(**site) && !under_way.contains(site));
        Some((message, ready.copied().collect()))
    }

    /// Whether all neighbors have the report.
    pub fn are_notified(&self) -> bool {
        self.left.is_empty()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const NEIGHBORS: [SiteNo; 2] = [SiteNo(2), SiteNo(3)];

    fn begun(mut report: FinalReport, reason: &str) -> FinalReport {
        report.begin(Ended { reason: reason.to_owned(), is_before_start: false }, NEIGHBORS.into_iter());
        report
    }

    fn due(report: &FinalReport, is_up: impl Fn(SiteNo) -> bool) -> Vec<SiteNo> {
        report.due(is_up).map_or_else(Vec::new, |(_, sites)| sites)
    }

    #[test]
    fn a_late_neighbor_is_notified_when_it_connects_and_again_until_it_is_delivered() {
        let mut report = FinalReport::default();
        assert!(due(&report, |_| true).is_empty() && report.are_notified(), "the job continues");
        // The driver notifies n2, which is connected.
        report.sending(NEIGHBORS[0], 4);
        let mut report = begun(report, "site n1: why");
        report = begun(report, "something else");
        assert!(due(&report, |site| site == NEIGHBORS[0]).is_empty() && !report.are_notified());
        assert_eq!(due(&report, |_| true), [NEIGHBORS[1]]);
        assert_eq!(report.due(|_| true).unwrap().0.reason, "site n1: why");
        report.sending(NEIGHBORS[1], 5);
        assert!(due(&report, |_| true).is_empty(), "a report is in flight");
        // Both were on connections of an incarnation before.
        report.ended(4, false);
        report.ended(5, false);
        assert_eq!(due(&report, |_| true), NEIGHBORS);
        (6..).zip(NEIGHBORS).for_each(|(id, site)| report.sending(site, id));
        report.ended(6, true);
        report.ended(7, true);
        assert!(report.are_notified() && due(&report, |_| true).is_empty());
    }

    #[test]
    fn a_neighbor_that_has_sent_it_is_not_notified() {
        let mut report = FinalReport::default();
        report.knows(NEIGHBORS[0]);
        let mut report = begun(report, "site n1: why");
        report.sending(NEIGHBORS[1], 5);
        // n3 disconnected after it had sent the report.
        report.knows(NEIGHBORS[1]);
        report.ended(5, false);
        assert!(report.are_notified() && due(&report, |_| true).is_empty());
    }
}
