//! Rounds of the jobs of a topology of peers.

use inart_topologies::peers::{PeerJob, Ports};

use crate::pairs::{Pairs, Waits};
use crate::problem::{Multicast, Problem};

/// Jobs whose next round is planned.
pub trait Round {
    /// Returns the rounds since the last update of each pair, from the topology.
    fn waits(&self) -> Waits;
    /// Returns the pairs that the topology requires.
    fn required_pairs(&self) -> Pairs;
    /// Returns the next round's problem on these ports. It requires the topology's pairs and those that have
    /// waited for `force_after` rounds.
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
