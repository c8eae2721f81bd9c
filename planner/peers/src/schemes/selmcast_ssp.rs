//! SELMCAST, Algorithm 2: new receivers for all active multicasts, when another one starts.
//!
//! As corrected (docs/explanation/peers.md, "How the SELMCAST paper is read"); other readings are options.

use std::cmp::Reverse;

use crate::pairs::{Pairs, Waits};
use crate::problem::Multicast;
use inart_topologies::peers::Ports;

/// Relative tolerance when a load is compared with a time: sums of floats.
const ROUNDING: f64 = 1e-12;

/// A multicast that is active or about to start.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// Sender.
    pub from: usize,
    /// Current receivers, ascending: all other peers for one that is about to start.
    pub to: Vec<usize>,
    /// Bits left to send.
    pub left_bits: f64,
    /// Time that the sender would wait if it had sent everything now, in seconds (τ).
    pub wait_s: f64,
}

/// Deadlines that a further receiver must not violate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// The deadline of its own sender, as printed.
    Own,
    /// The deadlines of all multicasts to the same receiver: safer, and with fewer receivers.
    All,
}

/// Reading of Algorithm 2.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Receivers that have more than the part 1−η of an update stay: left < η·update.
    pub eta: f64,
    /// Whether receivers beyond the fewest are added (lines 29 to 36).
    pub second_pass: bool,
    /// Deadlines to keep.
    pub guard: Guard,
    /// Line 13: senders with the shortest wait come first (`false`: last, as in the text).
    pub urgent_first: bool,
    /// Line 32: loads are those of the new choice (`false`: of the previous one, as printed).
    pub new_loads: bool,
}

impl Default for Reading {
    fn default() -> Self {
        Reading { eta: 0.75, second_pass: true, guard: Guard::Own, urgent_first: true, new_loads: true }
    }
}

/// Settings that stay constant over multicasts.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'s> {
    /// Ports with their current rates.
    pub ports: &'s Ports,
    /// Size of each peer's update in bits.
    pub bits: &'s [f64],
    /// Fewest receivers.
    pub receivers: usize,
    /// Maker of the copies.
    pub multicast: Multicast,
    /// Required pairs.
    pub required: &'s Pairs,
    /// Rounds since the last update of each pair.
    pub waited: &'s Waits,
}

/// New choices for the tasks, in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct Reselected {
    /// Receivers of each task: a subset of the previous ones, ascending.
    pub to: Vec<Vec<usize>>,
    /// Earliest end of each task with the receivers of the first pass, in seconds from now.
    pub deadlines_s: Vec<f64>,
}

/// Chooses new receivers for all tasks.
pub fn reselect(setting: &Setting<'_>, tasks: &[Task], reading: &Reading) -> Reselected {
    let mut work = Work::new(setting, tasks);
    let order = work.basic(reading);
    let deadlines_s = work.deadlines(&order);
    if reading.second_pass {
        work.improve(reading, &deadlines_s);
    }
    let chosen = work.chosen.iter().zip(tasks);
    let to = chosen.map(|(chosen, task)| task.to.iter().copied().filter(|&to| chosen[to]).collect());
    Reselected { to: to.collect(), deadlines_s }
}

struct Work<'w> {
    setting: &'w Setting<'w>,
    tasks: &'w [Task],
    /// Receivers by task (y).
    chosen: Vec<Vec<bool>>,
    counts: Vec<usize>,
    /// Load to each receiver, in bits.
    down: Vec<f64>,
}

impl<'w> Work<'w> {
    fn new(setting: &'w Setting<'w>, tasks: &'w [Task]) -> Self {
        let n = setting.bits.len();
        let (chosen, counts) = (vec![vec![false; n]; tasks.len()], vec![0; tasks.len()]);
        Work { setting, tasks, chosen, counts, down: vec![0.0; n] }
    }

    fn choose(&mut self, task: usize, to: usize) {
        self.chosen[task][to] = true;
        self.counts[task] += 1;
        self.down[to] += self.tasks[task].left_bits;
    }

    /// Lines 8 to 20. Returns the order of line 13.
    fn basic(&mut self, reading: &Reading) -> Vec<usize> {
        let Setting { ports, bits, receivers, required, .. } = *self.setting;
        for (at, task) in self.tasks.iter().enumerate() {
            let nearly_done = task.left_bits < reading.eta * bits[task.from];
            for &to in task.to.iter().filter(|&&to| nearly_done || required.has(task.from, to)) {
                self.choose(at, to);
            }
        }
        let mut order: Vec<usize> = (0..self.tasks.len()).collect();
        order.sort_by(|&a, &b| {
            let (first, second) = (&self.tasks[a], &self.tasks[b]);
            let by_wait = first.wait_s.total_cmp(&second.wait_s);
            let by_wait = if reading.urgent_first { by_wait } else { by_wait.reverse() };
            by_wait.then(first.from.cmp(&second.from))
        });
        for &at in &order {
            let task = &self.tasks[at];
            let free = task.to.iter().copied().filter(|&to| !self.chosen[at][to]);
            let mut by_load: Vec<_> =
                free.map(|to| ((task.left_bits + self.down[to]) / ports.down_bps[to], to)).collect();
            by_load.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            by_load.truncate(receivers.saturating_sub(self.counts[at]));
            by_load.into_iter().for_each(|(_, to)| self.choose(at, to));
        }
        order
    }

    fn up_seconds(&self, task: usize, receivers: usize) -> f64 {
        let task = &self.tasks[task];
        let copies = self.setting.multicast.copies(receivers) as f64;
        task.left_bits * copies / self.setting.ports.up_bps[task.from]
    }

    /// Lines 21 to 28: returns the earliest end of each multicast with the receivers of the first pass.
    fn deadlines(&self, order: &[usize]) -> Vec<f64> {
        let mut deadlines = vec![0.0; self.tasks.len()];
        for &at in order {
            let to = self.tasks[at].to.iter().filter(|&&to| self.chosen[at][to]);
            let seconds = to.map(|&to| self.down[to] / self.setting.ports.down_bps[to]);
            let own = self.tasks[at].wait_s.max(self.up_seconds(at, self.counts[at]));
            deadlines[at] = seconds.fold(own, f64::max);
        }
        deadlines
    }

    /// Lines 29 to 36: pairs that have waited longest first, as far as they keep the deadlines.
    fn improve(&mut self, reading: &Reading, deadlines: &[f64]) {
        let ports = self.setting.ports;
        let mut before = vec![0.0; self.down.len()];
        for task in self.tasks {
            task.to.iter().for_each(|&to| before[to] += task.left_bits);
        }
        let tasks = self.tasks;
        let pairs = tasks.iter().enumerate().flat_map(|(at, task)| task.to.iter().map(move |&to| (at, to)));
        let mut left: Vec<_> = pairs.filter(|&(at, to)| !self.chosen[at][to]).collect();
        left.sort_by_key(|&(at, to)| {
            let from = tasks[at].from;
            (Reverse(self.setting.waited.of(from, to)), from, to)
        });
        for (at, to) in left {
            let load = match reading.new_loads {
                true => self.down[to] + tasks[at].left_bits,
                false => before[to],
            };
            let down = load / ports.down_bps[to];
            let meets = |at: usize, seconds: f64| seconds <= deadlines[at] * (1.0 + ROUNDING);
            let own = meets(at, self.up_seconds(at, self.counts[at] + 1)) && meets(at, down);
            let others = || (0..tasks.len()).all(|other| !self.chosen[other][to] || meets(other, down));
            if own && (reading.guard == Guard::Own || others()) {
                self.choose(at, to);
            }
        }
    }
}
