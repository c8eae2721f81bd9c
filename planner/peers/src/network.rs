//! Rounds of the jobs of a network of peers.

use inart_topologies::peers::{PeerJob, Ports};

use crate::pairs::{Pairs, Waits};
use crate::problem::{Multicast, Problem};

/// Jobs whose next round is planned.
pub trait Round {
    /// Since when no update went from one peer to another, as the document says.
    fn waits(&self) -> Waits;
    /// The pairs that the document requires.
    fn required_pairs(&self) -> Pairs;
    /// The next round's problem on these ports: required are the document's pairs and those that have waited
    /// for `force_after` rounds.
    fn problem(&self, ports: Ports, multicast: Multicast, force_after: Option<u32>) -> Problem;
}

impl Round for PeerJob {
    fn waits(&self) -> Waits {
        let mut waits = Waits::none(self.peers.len());
        self.waited.iter().for_each(|&(from, to, rounds)| waits.set(from, to, rounds));
        waits
    }

    fn required_pairs(&self) -> Pairs {
        Pairs::of(self.peers.len(), self.required.iter().copied())
    }

    fn problem(&self, ports: Ports, multicast: Multicast, force_after: Option<u32>) -> Problem {
        let waited = self.waits();
        let mut required = waited.forced(force_after);
        self.required.iter().for_each(|&(from, to)| required.insert(from, to));
        Problem { ports, bits: self.update_bits(), receivers: self.receivers, required, waited, multicast }
    }
}
