//! The selection problem of one round, and the time of a selection.

use std::fmt;

use inart_topologies::peers::Ports;

use crate::pairs::{Pairs, Waits};

/// Maker of an update's copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Multicast {
    /// The switch: an update crosses the sender's port once (the SELMCAST paper's L3).
    Switch,
    /// The sending host: an update crosses its port once per receiver (the SELMCAST paper's L7).
    Hosts,
}

impl Multicast {
    /// Returns the name on the command line and in plans.
    pub fn name(self) -> &'static str {
        match self {
            Multicast::Switch => "switch",
            Multicast::Hosts => "hosts",
        }
    }

    /// Returns the variant of that name.
    pub fn named(name: &str) -> Option<Multicast> {
        [Multicast::Switch, Multicast::Hosts].into_iter().find(|multicast| multicast.name() == name)
    }

    /// Returns how often an update to `receivers` receivers crosses the sender's port.
    pub fn copies(self, receivers: usize) -> usize {
        match self {
            Multicast::Switch => receivers.min(1),
            Multicast::Hosts => receivers,
        }
    }
}

impl fmt::Display for Multicast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One round in which every peer sends its update to at least `receivers` others.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// Ports.
    pub ports: Ports,
    /// Size of each peer's update, in bits; above 0.
    pub bits: Vec<f64>,
    /// Fewest receivers of an update (p); at least 1, less than the number of peers.
    pub receivers: usize,
    /// Required pairs (D).
    pub required: Pairs,
    /// Rounds since the last update of each pair (c).
    pub waited: Waits,
    /// Maker of the copies.
    pub multicast: Multicast,
}

impl Problem {
    /// Returns the number of peers.
    pub fn peers(&self) -> usize {
        self.bits.len()
    }

    /// Returns the fewest receivers of a peer's update: the common number, or as many as are required.
    pub fn least_receivers(&self, from: usize) -> usize {
        self.receivers.max(self.required.count(from))
    }

    /// Returns the common size of all updates in bits, if they are equal.
    pub fn equal_bits(&self) -> Option<f64> {
        let first = *self.bits.first()?;
        self.bits.iter().all(|bits| *bits == first).then_some(first)
    }

    /// Returns the time until the fullest port is done, in seconds: max over ports of load / rate (10), (11).
    /// No schedule of these copies takes less; with equal updates and max-min shares none takes more.
    pub fn seconds(&self, chosen: &Pairs) -> f64 {
        let mut down = vec![0.0; self.peers()];
        let mut most = 0.0f64;
        for from in 0..self.peers() {
            let mut count = 0;
            for to in chosen.receivers(from) {
                down[to] += self.bits[from];
                count += 1;
            }
            most = most.max(self.up_seconds(from, count));
        }
        down.iter().zip(&self.ports.down_bps).map(|(bits, bps)| bits / bps).fold(most, f64::max)
    }

    /// Returns the time that an update to `receivers` receivers takes on the sender's port, in seconds.
    pub(crate) fn up_seconds(&self, from: usize, receivers: usize) -> f64 {
        self.bits[from] * self.multicast.copies(receivers) as f64 / self.ports.up_bps[from]
    }

    /// Returns the most receivers of an update that crosses the sender's port within a time.
    pub(crate) fn most_receivers(&self, from: usize, seconds: f64) -> usize {
        let others = self.peers() - 1;
        match self.multicast {
            Multicast::Switch => others,
            Multicast::Hosts => {
                let most = seconds / self.bits[from] * self.ports.up_bps[from];
                whole(most, others, |count| self.up_seconds(from, count) <= seconds)
            }
        }
    }
}

/// Returns the greatest whole number up to `most` that fits, near a real number with a rounding error.
pub(crate) fn whole(near: f64, most: usize, fits: impl Fn(usize) -> bool) -> usize {
    let mut count = (near.clamp(0.0, most as f64)) as usize;
    while count < most && fits(count + 1) {
        count += 1;
    }
    while count > 0 && !fits(count) {
        count -= 1;
    }
    count
}
