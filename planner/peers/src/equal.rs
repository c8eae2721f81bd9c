//! Rounds of equal updates, for which the least time is exact: a port's time is a whole number of updates,
//! and an integer flow decides whether all peers find enough receivers within a time.

use std::cmp::Reverse;

use crate::assignment::{Assignment, Cut};
use crate::pairs::Pairs;
use crate::problem::{Problem, whole};

/// Relative precision of the bisection.
const PRECISION: f64 = 1e-13;

/// A problem whose updates all have one size.
pub(crate) struct Equal<'p> {
    problem: &'p Problem,
    bits: f64,
    /// Number of required senders by receiver.
    required: Vec<usize>,
}

impl<'p> Equal<'p> {
    /// Returns `None` if updates differ.
    pub fn new(problem: &'p Problem) -> Option<Self> {
        let bits = problem.equal_bits()?;
        let mut required = vec![0; problem.peers()];
        problem.required.iter().for_each(|(_, to)| required[to] += 1);
        Some(Equal { problem, bits, required })
    }

    fn others(&self) -> usize {
        self.problem.peers() - 1
    }

    fn down_seconds(&self, to: usize, count: usize) -> f64 {
        self.bits * count as f64 / self.problem.ports.down_bps[to]
    }

    /// Returns how many updates a receiver takes within a time.
    fn fits(&self, to: usize, seconds: f64) -> usize {
        let near = seconds * self.problem.ports.down_bps[to] / self.bits;
        whole(near, self.others(), |count| self.down_seconds(to, count) <= seconds)
    }

    /// Returns a lower bound: fewest copies on outgoing ports, required pairs on incoming ones.
    fn floor(&self) -> f64 {
        let n = self.problem.peers();
        let up = (0..n).map(|from| self.problem.up_seconds(from, self.problem.least_receivers(from)));
        let down = (0..n).map(|to| self.down_seconds(to, self.required[to]));
        up.chain(down).fold(0.0, f64::max)
    }

    fn needs(&self) -> Vec<usize> {
        let of = |from| self.problem.least_receivers(from) - self.problem.required.count(from);
        (0..self.problem.peers()).map(of).collect()
    }

    /// Returns the room within a time that is at least the floor.
    fn rooms(&self, seconds: f64) -> Vec<usize> {
        let room = |to| self.fits(to, seconds).saturating_sub(self.required[to]);
        (0..self.problem.peers()).map(room).collect()
    }

    /// Returns the least time, at least `from_s`, at which these receivers have room for `needed` updates.
    fn least_for(&self, receivers: &[usize], needed: usize, from_s: f64) -> f64 {
        let room = |seconds: f64| -> usize {
            receivers.iter().map(|&to| self.fits(to, seconds).saturating_sub(self.required[to])).sum()
        };
        if room(from_s) >= needed {
            return from_s;
        }
        let all = receivers.iter().map(|&to| self.down_seconds(to, self.others()));
        let (mut low, mut high) = (from_s, all.fold(from_s, f64::max));
        while high - low > PRECISION * high {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            if room(middle) >= needed { high = middle } else { low = middle }
        }
        // The time at which a port is done with a whole number of updates, just below.
        let ends = receivers.iter().map(|&to| self.down_seconds(to, self.fits(to, high)));
        ends.fold(from_s, f64::max)
    }

    /// Returns the room that the receivers of a cut need for its senders.
    fn needed_by(&self, cut: &Cut) -> usize {
        let mut inside = vec![false; self.problem.peers()];
        cut.receivers.iter().for_each(|&to| inside[to] = true);
        let of = |&from: &usize| {
            let need = self.problem.least_receivers(from) - self.problem.required.count(from);
            let free = |&to: &usize| to != from && !inside[to] && !self.problem.required.has(from, to);
            need as isize - (0..inside.len()).filter(free).count() as isize
        };
        usize::try_from(cut.senders.iter().map(of).sum::<isize>()).unwrap_or(0)
    }

    /// Returns the least time of a round, and an assignment within it: goes from cut to cut, each of which
    /// proves a higher lower bound.
    pub fn least(&self) -> (f64, Assignment) {
        let needs = self.needs();
        let all: Vec<usize> = (0..self.problem.peers()).collect();
        let mut seconds = self.least_for(&all, needs.iter().sum(), self.floor());
        let mut assignment = Assignment::new(&self.problem.required, needs, self.rooms(seconds));
        assignment.fill();
        while let Err(cut) = assignment.complete() {
            let before = self.rooms(seconds);
            seconds = self.least_for(&cut.receivers, self.needed_by(&cut), seconds);
            let more = self.rooms(seconds);
            for (room, (more, before)) in assignment.room.iter_mut().zip(more.iter().zip(&before)) {
                *room += more - before;
            }
        }
        (seconds, assignment)
    }

    /// Returns an assignment in which all find enough receivers within a time, if there is one.
    pub fn within(&self, seconds: f64) -> Option<Assignment> {
        if seconds < self.floor() {
            return None;
        }
        let mut assignment = Assignment::new(&self.problem.required, self.needs(), self.rooms(seconds));
        assignment.fill();
        assignment.complete().ok().map(|()| assignment)
    }

    /// Returns every time at which a port is done with a whole number of updates, ascending: one of them is
    /// the least.
    pub fn candidates(&self) -> Vec<f64> {
        let down = (0..self.problem.peers())
            .flat_map(|to| (1..=self.others()).map(move |count| self.down_seconds(to, count)));
        let mut all: Vec<f64> = down.chain([self.floor()]).collect();
        all.sort_unstable_by(f64::total_cmp);
        all.dedup();
        all
    }

    /// Adds as many receivers as a time allows; among equals, pairs that have waited longest come first.
    pub fn most(&self, mut assignment: Assignment, seconds: f64) -> Pairs {
        let n = self.problem.peers();
        let spare = |from: usize, has: usize| self.problem.most_receivers(from, seconds).saturating_sub(has);
        assignment.need = (0..n).map(|from| spare(from, assignment.chosen.count(from))).collect();
        longest_first(self.problem, &mut assignment);
        assignment.extend();
        assignment.chosen
    }
}

/// Uses room and spare copies for pairs that have waited longest; among equals for senders with most spare
/// copies.
fn longest_first(problem: &Problem, assignment: &mut Assignment) {
    let n = problem.peers();
    let mut waiting: Vec<(Reverse<u32>, Reverse<usize>, usize)> = Vec::with_capacity(n);
    for to in 0..n {
        let room = assignment.room[to];
        if room == 0 {
            continue;
        }
        let is_free =
            |&from: &usize| from != to && assignment.need[from] > 0 && !assignment.chosen.has(from, to);
        waiting.clear();
        let key = |from: usize| (Reverse(problem.waited.of(from, to)), Reverse(assignment.need[from]), from);
        waiting.extend((0..n).filter(is_free).map(key));
        if room < waiting.len() {
            waiting.select_nth_unstable(room);
        }
        for &(.., from) in waiting.iter().take(room) {
            assignment.give(from, to);
        }
    }
}
