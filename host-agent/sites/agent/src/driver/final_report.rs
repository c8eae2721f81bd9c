//! Which neighbors have heard that the job has ended. A site that has just restarted may end before it has
//! met its neighbors, and others may notify it on the connection of its incarnation before: a neighbor
//! without a connection is notified when it has one.

use std::collections::{BTreeMap, BTreeSet};

use inart_protocol_sites::SiteNo;

use crate::message::Ended;

/// What is still to be sent, and to whom.
#[derive(Debug, Default)]
pub(super) struct LastWords {
    message: Option<Ended>,
    /// Neighbors that have not heard it, as far as is known.
    left: BTreeSet<SiteNo>,
    /// Neighbors that have taken it, or have sent it themselves.
    known: BTreeSet<SiteNo>,
    /// Under way, by number.
    sent: BTreeMap<u64, SiteNo>,
}

impl LastWords {
    /// The job has ended, or cannot begin, and these neighbors must hear it. The first message counts.
    pub fn begin(&mut self, message: Ended, neighbors: impl Iterator<Item = SiteNo>) {
        if self.message.is_none() {
            self.message = Some(message);
            self.left = neighbors.filter(|site| !self.known.contains(site)).collect();
        }
    }

    /// A message that says so leaves for a neighbor.
    pub fn sending(&mut self, site: SiteNo, id: u64) {
        self.sent.insert(id, site);
    }

    /// A neighbor knows it.
    pub fn knows(&mut self, site: SiteNo) {
        self.left.remove(&site);
        self.known.insert(site);
    }

    /// A message has ended.
    pub fn ended(&mut self, id: u64, is_taken: bool) {
        if let Some(site) = self.sent.remove(&id).filter(|_| is_taken) {
            self.knows(site);
        }
    }

    /// The message, and those to whom it may be sent now.
    pub fn due(&self, is_up: impl Fn(SiteNo) -> bool) -> Option<(Ended, Vec<SiteNo>)> {
        let message = self.message.clone()?;
        let under_way: BTreeSet<&SiteNo> = self.sent.values().collect();
        let ready = self.left.iter().filter(|site| is_up(**site) && !under_way.contains(site));
        Some((message, ready.copied().collect()))
    }

    /// Whether all neighbors have heard it.
    pub fn are_heard(&self) -> bool {
        self.left.is_empty()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const NEIGHBORS: [SiteNo; 2] = [SiteNo(2), SiteNo(3)];

    fn begun(mut words: LastWords, told: &str) -> LastWords {
        words.begin(Ended { told: told.to_owned(), is_before_start: false }, NEIGHBORS.into_iter());
        words
    }

    fn due(words: &LastWords, is_up: impl Fn(SiteNo) -> bool) -> Vec<SiteNo> {
        words.due(is_up).map_or_else(Vec::new, |(_, sites)| sites)
    }

    #[test]
    fn a_late_neighbor_is_notified_when_it_connects_and_again_until_it_is_delivered() {
        let mut words = LastWords::default();
        assert!(due(&words, |_| true).is_empty() && words.are_heard(), "the job goes on");
        // The driver notifies n2, which is connected.
        words.sending(NEIGHBORS[0], 4);
        let mut words = begun(words, "site n1: why");
        words = begun(words, "something else");
        assert!(due(&words, |site| site == NEIGHBORS[0]).is_empty() && !words.are_heard());
        assert_eq!(due(&words, |_| true), [NEIGHBORS[1]]);
        assert_eq!(words.due(|_| true).unwrap().0.told, "site n1: why");
        words.sending(NEIGHBORS[1], 5);
        assert!(due(&words, |_| true).is_empty(), "it is under way");
        // Both were on connections of an incarnation before.
        words.ended(4, false);
        words.ended(5, false);
        assert_eq!(due(&words, |_| true), NEIGHBORS);
        (6..).zip(NEIGHBORS).for_each(|(id, site)| words.sending(site, id));
        words.ended(6, true);
        words.ended(7, true);
        assert!(words.are_heard() && due(&words, |_| true).is_empty());
    }

    #[test]
    fn a_neighbor_that_has_sent_it_is_not_notified() {
        let mut words = LastWords::default();
        words.knows(NEIGHBORS[0]);
        let mut words = begun(words, "site n1: why");
        words.sending(NEIGHBORS[1], 5);
        // It has left after it has sent it.
        words.knows(NEIGHBORS[1]);
        words.ended(5, false);
        assert!(words.are_heard() && due(&words, |_| true).is_empty());
    }
}
