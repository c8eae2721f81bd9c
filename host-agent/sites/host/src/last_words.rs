//! Who has heard that the job has ended. A site that has just restarted may end before it has met anybody,
//! and others may tell it so on the connection of its life before: whoever is not there is told when it is.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use inart_site_agent::message::{Body, Ended, decode, encode};

/// Numbers of the messages that are sent again, which no driver comes to.
const FIRST_ID: u64 = 1 << 63;
/// Longer messages are chunks; they are not looked at.
const MOST_BYTES: usize = 8192;

/// What is still to be told, and to whom.
#[derive(Debug, Default)]
pub(crate) struct LastWords {
    message: Option<Bytes>,
    /// Neighbours that have not heard it, as far as is known.
    left: BTreeSet<String>,
    /// Neighbours that have taken it, or have said so themselves.
    known: BTreeSet<String>,
    /// Under way, by number.
    sent: BTreeMap<u64, String>,
    count: u64,
}

fn says_it(data: &Bytes) -> bool {
    data.len() <= MOST_BYTES && matches!(decode(data.clone()), Ok(Body::Ended(_)))
}

impl LastWords {
    /// The job has ended, or cannot begin, and all neighbours have to hear it. What is told first counts.
    pub fn begin(&mut self, told: &str, is_before_start: bool, neighbours: impl Iterator<Item = String>) {
        if self.message.is_none() {
            self.message = Some(encode(Body::Ended(Ended { told: told.to_owned(), is_before_start })));
            self.left = neighbours.filter(|name| !self.known.contains(name)).collect();
        }
    }

    /// A message leaves for a neighbour.
    pub fn sending(&mut self, peer: &str, id: u64, data: &Bytes) {
        if says_it(data) {
            self.sent.insert(id, peer.to_owned());
        }
    }

    /// A message has come from a neighbour.
    pub fn heard(&mut self, peer: &str, data: &Bytes) {
        if says_it(data) {
            self.knows(peer.to_owned());
        }
    }

    /// A message was delivered.
    pub fn delivered(&mut self, id: u64) {
        if let Some(peer) = self.sent.remove(&id) {
            self.knows(peer);
        }
    }

    /// A message was not delivered.
    pub fn failed(&mut self, id: u64) {
        self.sent.remove(&id);
    }

    /// What may be sent now to whom.
    pub fn due(&mut self, is_up: impl Fn(&str) -> bool) -> Vec<(String, u64, Bytes)> {
        let Some(message) = &self.message else { return Vec::new() };
        let under_way: BTreeSet<&String> = self.sent.values().collect();
        let ready = self.left.iter().filter(|peer| is_up(peer) && !under_way.contains(peer)).cloned();
        let ready: Vec<_> =
            ready.zip(self.count..).map(|(peer, at)| (peer, FIRST_ID + at, message.clone())).collect();
        self.count += ready.len() as u64;
        self.sent.extend(ready.iter().map(|(peer, id, _)| (*id, peer.clone())));
        ready
    }

    /// Whether nobody is left who has not heard it.
    pub fn are_told(&self) -> bool {
        self.left.is_empty()
    }

    fn knows(&mut self, peer: String) {
        self.left.remove(&peer);
        self.known.insert(peer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEIGHBOURS: [&str; 2] = ["n2", "n3"];

    fn ended(told: &str) -> Bytes {
        encode(Body::Ended(Ended { told: told.to_owned(), is_before_start: false }))
    }

    fn begun(mut words: LastWords) -> LastWords {
        words.begin("site n1: why", false, NEIGHBOURS.map(str::to_owned).into_iter());
        words
    }

    #[test]
    fn who_is_late_is_told_when_it_is_there_and_again_until_it_is_delivered() {
        let mut words = LastWords::default();
        assert!(words.due(|_| true).is_empty() && words.are_told(), "the job goes on");
        // The driver tells n2, which is connected.
        words.sending("n2", 4, &ended("site n1: why"));
        let mut words = begun(words);
        words.begin("something else", false, std::iter::empty());
        assert!(words.due(|peer| peer == "n2").is_empty() && !words.are_told());
        let due = words.due(|_| true);
        assert_eq!(due.iter().map(|(peer, ..)| &**peer).collect::<Vec<_>>(), ["n3"]);
        assert_eq!(due[0].2, ended("site n1: why"));
        assert!(words.due(|_| true).is_empty(), "it is under way");
        // Both were on connections of a life before.
        words.failed(4);
        words.failed(due[0].1);
        let again = words.due(|_| true);
        assert_eq!(again.len(), 2);
        assert!(again.iter().all(|(_, id, _)| *id != due[0].1), "numbers are not used again");
        again.iter().for_each(|(_, id, _)| words.delivered(*id));
        assert!(words.are_told() && words.due(|_| true).is_empty());
    }

    #[test]
    fn whoever_has_said_so_itself_is_not_told() {
        let mut words = LastWords::default();
        words.heard("n2", &ended("site n2: why"));
        let mut words = begun(words);
        words.sending("n3", 5, &ended("site n2: why"));
        // It has left after it has said so.
        words.heard("n3", &ended("site n2: why"));
        words.failed(5);
        assert!(words.are_told() && words.due(|_| true).is_empty());
    }
}
