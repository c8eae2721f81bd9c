//! The server's comparison.

use std::cmp::Reverse;

use super::mutant::Mutant;
use super::state::{State, System};

/// Last tensors that each have a mark: at least as many as workers can be apart while one of them waits.
pub const LAST: usize = 3;
/// Interval of an additional mark: the last tensor whose number is a multiple has one.
pub const POWER: usize = 4;

impl System {
    /// Returns the numbers of the tensors that have marks, after `started` tensors.
    fn numbers(&self, started: usize) -> Vec<usize> {
        let last = if self.has(Mutant::NewestOnly) { 1 } else { LAST };
        let powers = (!self.has(Mutant::NewestOnly)).then_some(started / POWER * POWER);
        let mut numbers: Vec<_> =
            (0..last).filter_map(|back| started.checked_sub(back)).chain(powers).collect();
        numbers.retain(|number| *number > 0);
        numbers
    }

    /// Returns the mark of a worker's tensor: equal for equal steps up to it.
    fn mark(&self, state: &State, worker: usize, number: usize) -> u64 {
        let from = if self.has(Mutant::ForgetsHistory) { number - 1 } else { 0 };
        let steps = &state.workers[worker].history[from..number];
        steps.iter().fold(0, |mark, step| mark * 16 + u64::from(*step) + 1)
    }

    /// Returns the numbers of which the server has a mark from both workers, with whether the marks are
    /// equal.
    fn compared(&self, state: &State, one: usize, other: usize) -> Vec<(usize, bool)> {
        let [started, others_started] = [one, other].map(|worker| state.received[worker]);
        let mark = |worker, number| self.mark(state, worker, number);
        if self.has(Mutant::IgnoresNumbers) && started > 0 && others_started > 0 {
            return vec![(started.min(others_started), mark(one, started) == mark(other, others_started))];
        }
        let numbers = self.numbers(others_started);
        let both = self.numbers(started).into_iter().filter(|number| numbers.contains(number));
        both.map(|number| (number, mark(one, number) == mark(other, number))).collect()
    }

    /// Handles a transcript of a worker after `started` tensors.
    pub(super) fn receive(&self, state: &mut State, worker: usize, started: usize) {
        state.received[worker] = started;
        if state.ended.is_some() || self.has(Mutant::NeverCompares) {
            return;
        }
        let peers = (0..state.workers.len()).filter(|peer| *peer != worker);
        let differing = peers.flat_map(|peer| self.compared(state, worker, peer));
        let number = differing.filter(|(_, same)| !same).map(|(number, _)| number).min();
        state.difference = state.difference.or(number);
        let Some(number) = state.difference else { return };
        self.learn(state, number);
        if self.has(Mutant::JudgesAtOnce) || state.marks.iter().all(Option::is_some) {
            self.judge(state);
        }
    }

    /// Notes marks of the number: from a worker's own transcript, or from that of a peer which agrees with it
    /// at the number or a later one.
    fn learn(&self, state: &mut State, number: usize) {
        let workers = 0..state.workers.len();
        if self.has(Mutant::ForgetsMarks) {
            state.marks = vec![None; workers.len()];
        }
        for worker in workers.clone() {
            let started = state.received[worker];
            if self.has(Mutant::IgnoresNumbers) && started > 0 {
                state.marks[worker] = Some(self.mark(state, worker, started));
            } else if self.numbers(started).contains(&number) {
                state.marks[worker] = Some(self.mark(state, worker, number));
            }
        }
        for worker in workers.clone() {
            if state.marks[worker].is_none() {
                let agrees = |peer: &usize| {
                    let compared = self.compared(state, worker, *peer);
                    compared.iter().any(|(at, same)| *at >= number && *same)
                };
                let mut known = workers.clone().filter(|peer| state.marks[*peer].is_some());
                state.marks[worker] = known.find(agrees).and_then(|peer| state.marks[peer]);
            }
        }
    }

    /// Ends the job over a difference, as the marks of all workers are known or the time is up.
    pub(super) fn judge(&self, state: &mut State) {
        let known = || state.marks.iter().enumerate().filter_map(|(rank, mark)| Some((rank, (*mark)?)));
        let frequency = |mark: u64| known().filter(|(_, other)| *other == mark).count();
        let right = known().max_by_key(|(rank, mark)| (frequency(*mark), Reverse(*rank)));
        let Some((_, expected)) = right else { return };
        state.ended = known().find(|(_, mark)| *mark != expected).map(|(rank, _)| rank);
    }
}
