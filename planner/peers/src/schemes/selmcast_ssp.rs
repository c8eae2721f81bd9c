//! SELMCAST, Algorithm 2: receivers anew for all multicasts that are under way, when another one begins.
//!
//! As corrected (docs/explanation/peers.md, "How the SELMCAST paper is read"); the readings beside ours are
//! options.

use std::cmp::Reverse;

use crate::pairs::{Pairs, Waits};
use crate::problem::Multicast;
use inart_topologies::peers::Ports;

/// How far a load may be above the time that it is held against, relatively: sums of floats.
const ROUNDING: f64 = 1e-12;

/// A multicast that is under way, or about to begin.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// Who sends.
    pub from: usize,
    /// Who receives so far, ascending: everybody else, of one about to begin.
    pub to: Vec<usize>,
    /// What is left to send, in bits.
    pub left_bits: f64,
    /// How long the sender would wait if it had sent it all now, in seconds (τ).
    pub wait_s: f64,
}

/// Which deadlines a further receiver has to leave whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// Its own sender's, as printed.
    Own,
    /// Those of all multicasts to the same receiver: safer, and with fewer receivers.
    All,
}

/// How Algorithm 2 is read.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Those to whom more than the part 1−η has been sent stay receivers: left < η·update.
    pub eta: f64,
    /// Whether receivers are added beyond the fewest (lines 29 to 36).
    pub second_pass: bool,
    /// Which deadlines hold.
    pub guard: Guard,
    /// Line 13: those who would wait least come first (`false`: last, as the text has it).
    pub urgent_first: bool,
    /// Line 32: loads are those of the new choice (`false`: of the one before, as printed).
    pub new_loads: bool,
}

impl Default for Reading {
    fn default() -> Self {
        Reading { eta: 0.75, second_pass: true, guard: Guard::Own, urgent_first: true, new_loads: true }
    }
}

/// What stays the same while multicasts come and go.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'s> {
    /// The ports as they are now.
    pub ports: &'s Ports,
    /// The size of each peer's update in bits.
    pub bits: &'s [f64],
    /// The fewest receivers.
    pub receivers: usize,
    /// Who makes the copies.
    pub multicast: Multicast,
    /// Who has to send to whom.
    pub required: &'s Pairs,
    /// Since when nobody has sent to whom.
    pub waited: &'s Waits,
}

/// What becomes of the tasks, in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct Reselected {
    /// The receivers of each from now on: some of those so far, ascending.
    pub to: Vec<Vec<usize>>,
    /// When each ends with the receivers of the first pass, at the earliest, in seconds from now.
    pub deadlines_s: Vec<f64>,
}

/// Chooses the receivers of all tasks anew.
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
    /// Of each task, who receives (y).
    chosen: Vec<Vec<bool>>,
    counts: Vec<usize>,
    /// To each receiver, in bits.
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

    /// Lines 8 to 20; the order of line 13.
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

    /// Lines 21 to 28: when each multicast ends with the receivers of the first pass, at the earliest.
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

    /// Lines 29 to 36: pairs that have waited longest first, whatever leaves the deadlines whole.
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
