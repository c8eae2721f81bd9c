//! A selection of receivers for unequal updates, with its loads, while it is improved.

use crate::pairs::Pairs;
use crate::problem::Problem;

/// Pairs, and the load of each receiver's port.
#[derive(Debug, Clone)]
pub(super) struct Loads<'p> {
    pub problem: &'p Problem,
    pub chosen: Pairs,
    /// By receiver, the senders that are not required, by size, ascending.
    pub senders: Vec<Vec<usize>>,
    /// Load to each receiver, in bits.
    pub down: Vec<f64>,
    /// Required part of the load.
    base: Vec<f64>,
}

impl<'p> Loads<'p> {
    /// Creates loads with the required pairs alone.
    pub fn required(problem: &'p Problem) -> Self {
        let n = problem.peers();
        let mut down = vec![0.0; n];
        problem.required.iter().for_each(|(from, to)| down[to] += problem.bits[from]);
        Loads {
            problem,
            chosen: problem.required.clone(),
            senders: vec![Vec::new(); n],
            base: down.clone(),
            down,
        }
    }

    pub fn bits(&self, from: usize) -> f64 {
        self.problem.bits[from]
    }

    /// Returns the required load to a receiver, in bits.
    pub fn base(&self, to: usize) -> f64 {
        self.base[to]
    }

    pub fn bps(&self, to: usize) -> f64 {
        self.problem.ports.down_bps[to]
    }

    /// Returns when a receiver's port is done, in seconds.
    pub fn seconds(&self, to: usize) -> f64 {
        self.down[to] / self.bps(to)
    }

    /// Returns whether a sender may get a receiver.
    pub fn is_free(&self, from: usize, to: usize) -> bool {
        from != to && !self.chosen.has(from, to)
    }

    pub fn add(&mut self, from: usize, to: usize) {
        self.chosen.insert(from, to);
        self.down[to] += self.bits(from);
        let bits = &self.problem.bits;
        let place = self.senders[to].partition_point(|&other| (bits[other], other) < (bits[from], from));
        self.senders[to].insert(place, from);
    }

    /// Adds an update no larger than the receiver's others; [`Loads::sort`] must follow.
    pub fn add_smallest(&mut self, from: usize, to: usize) {
        self.chosen.insert(from, to);
        self.down[to] += self.bits(from);
        self.senders[to].push(from);
    }

    /// Sorts the senders of each receiver.
    pub fn sort(&mut self) {
        let bits = &self.problem.bits;
        let by_size = |a: &usize, b: &usize| bits[*a].total_cmp(&bits[*b]).then(a.cmp(b));
        self.senders.iter_mut().for_each(|senders| senders.sort_unstable_by(by_size));
    }

    pub fn take(&mut self, from: usize, to: usize) {
        self.chosen.remove(from, to);
        self.senders[to].retain(|&other| other != from);
        // Summed again, so that no rounding error remains.
        let others = self.senders[to].iter().map(|&other| self.problem.bits[other]);
        self.down[to] = others.fold(self.base[to], |sum, bits| sum + bits);
    }

    /// Returns the receiver whose port is done last.
    pub fn slowest(&self) -> usize {
        let by_seconds = |a: &usize, b: &usize| self.seconds(*a).total_cmp(&self.seconds(*b));
        (0..self.down.len()).max_by(by_seconds).unwrap_or(0)
    }
}
