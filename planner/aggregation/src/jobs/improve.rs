//! Makes a set of plans fairer, by replanning a slow job and those that limit it.

use super::fair::is_fairer;
use super::next_to::{is_small, plan_next_to};
use super::set::{Network, Set};
use crate::model::Model;
use crate::plan::Plan;

/// Relative increases of a job's rate that are tried when other jobs are moved.
const STEPS: [f64; 3] = [0.3, 0.1, 0.03];
/// Plans made per job at most while improving.
const MOVES: usize = 60;

/// Jobs faster than the slow one's target that are limited to that target.
#[derive(Clone, Copy)]
enum Yielding {
    None,
    /// Jobs that use the full resources of the slow job.
    Rivals,
    /// All jobs: the limiting job may be limited itself, and its alternatives may be full.
    All,
}

/// Raises the slowest job (of those below their fair rate): it is replanned next to the others at their
/// rates, then those on its full resources are, one after the other, next to it at its next rate; first as
/// fast as they are, then no faster than it; then all others are no faster than it. If the slowest job cannot
/// improve so, it swaps with another one, if both are small. Ends when no job can improve.
pub(super) fn improve(network: &Network<'_>, mut best: Set, fair: &[f64]) -> Set {
    let mut search = Search { network, fair, moves: MOVES * best.laid.len() };
    'rising: loop {
        let mut order: Vec<usize> = (0..fair.len()).collect();
        order.retain(|&job| best.rates[job] < fair[job] * (1.0 - 1e-6));
        order.sort_by(|&a, &b| best.rates[a].total_cmp(&best.rates[b]));
        for &slow in &order {
            let mut risen = search.rise(&best, slow);
            if risen.is_none() && slow == order[0] {
                risen = search.change_places(&best, slow);
            }
            if let Some(risen) = risen {
                best = risen;
                continue 'rising;
            }
            if search.is_over() {
                return best;
            }
        }
        return best;
    }
}

struct Search<'a> {
    network: &'a Network<'a>,
    fair: &'a [f64],
    /// Number of plans that may still be made.
    moves: usize,
}

impl Search<'_> {
    fn is_over(&self) -> bool {
        self.moves == 0 || self.network.options.out_of_time()
    }

    /// A fairer set, with the slow job or one of its rivals planned again.
    fn rise(&mut self, best: &Set, slow: usize) -> Option<Set> {
        let rivals = rivals(self.network, best, slow);
        let ways = [Yielding::None, Yielding::Rivals, Yielding::All];
        for (step, yielding) in STEPS.into_iter().flat_map(|step| ways.map(|yielding| (step, yielding))) {
            let mut rates = self.risen(best, slow, step);
            let next = rates[slow];
            let is_faster = |job: &usize| *job != slow && best.rates[*job] > next * (1.0 + 1e-6);
            let others = (0..rates.len()).filter(is_faster);
            let (near, far): (Vec<usize>, Vec<usize>) = others.partition(|job| rivals.contains(job));
            let yielding: Vec<usize> = match yielding {
                Yielding::None => Vec::new(),
                Yielding::Rivals if near.is_empty() => continue,
                Yielding::All if far.is_empty() => continue,
                Yielding::Rivals => near,
                Yielding::All => [near, far].concat(),
            };
            yielding.into_iter().for_each(|job| rates[job] = next);
            if let Some(risen) = self.raise(best, slow, &rivals, &rates) {
                return Some(risen);
            }
            if self.is_over() {
                return None;
            }
        }
        None
    }

    /// The rates with the slow job's raised by a part of it.
    fn risen(&self, best: &Set, slow: usize, step: f64) -> Vec<f64> {
        let mut rates = best.rates.clone();
        rates[slow] = (rates[slow] * (1.0 + step)).min(self.fair[slow]);
        rates
    }

    /// Plans a job, then each of its rivals, again next to the others at these rates. Returns the first set
    /// that is fairer than `best`.
    fn raise(&mut self, best: &Set, slow: usize, rivals: &[usize], rates: &[f64]) -> Option<Set> {
        let mut trial = best.clone();
        for job in std::iter::once(slow).chain(rivals.iter().copied()) {
            if self.is_over() {
                return None;
            }
            if !self.plan_again(&mut trial, job, rates, rates) {
                continue;
            }
            let risen = self.network.side_by_side(trial.laid.clone(), self.fair);
            if is_fairer(&risen.rates, &best.rates) {
                return Some(risen);
            }
        }
        None
    }

    /// Returns a fairer set in which the slow job and another one are replanned: the one without the other,
    /// then the other next to it.
    fn change_places(&mut self, best: &Set, slow: usize) -> Option<Set> {
        let small = |job: &usize| {
            let Network { topology, jobs, options, .. } = *self.network;
            is_small(&Model::new(topology, jobs[*job], options.results))
        };
        let others: Vec<usize> = (0..best.rates.len()).filter(|&job| job != slow).filter(small).collect();
        if !small(&slow) {
            return None;
        }
        for (step, other) in STEPS.into_iter().flat_map(|step| others.iter().map(move |&job| (step, job))) {
            let mut rates = self.risen(best, slow, step);
            let next = rates[slow];
            rates.iter_mut().for_each(|rate| *rate = rate.min(next));
            rates[other] = best.rates[other].min(next);
            for [first, second] in [[slow, other], [other, slow]] {
                if self.is_over() {
                    return None;
                }
                let mut trial = best.clone();
                let mut without = rates.clone();
                without[second] = 0.0;
                if self.plan_again(&mut trial, first, &without, &rates)
                    && self.plan_again(&mut trial, second, &rates, &rates)
                {
                    let risen = self.network.side_by_side(trial.laid, self.fair);
                    if is_fairer(&risen.rates, &best.rates) {
                        return Some(risen);
                    }
                }
            }
        }
        None
    }

    /// Plans a job of a set again next to the others at `rates`, no faster than `most`. Returns whether it
    /// has a plan.
    fn plan_again(&mut self, trial: &mut Set, job: usize, rates: &[f64], most: &[f64]) -> bool {
        self.moves = self.moves.saturating_sub(1);
        let left = self.network.left_for(job, trial, rates);
        let Ok(plan) = plan_next_to(self.network, self.network.options, job, left, most[job]) else {
            return false;
        };
        self.lay(trial, job, plan);
        true
    }

    fn lay(&self, trial: &mut Set, job: usize, plan: Plan) {
        trial.shares[job] = plan.shards.iter().map(|shard| shard.share).collect();
        trial.laid[job] = self.network.laid(plan);
    }
}

/// Returns the other jobs on the full resources of a job, in descending order of use.
fn rivals(network: &Network<'_>, set: &Set, job: usize) -> Vec<usize> {
    let left = network.left_for(usize::MAX, set, &set.rates);
    let full = |resource: &u32| {
        let r = *resource as usize;
        left[r] <= 1e-6 * network.capacity[r]
    };
    let tight: Vec<u32> = set.laid[job].units.keys().copied().filter(full).collect();
    let part = |other: usize| -> f64 {
        let units = &set.laid[other].units;
        let use_ = |r: &u32| {
            let used = crate::placement::weighted(units.get(r)?, &set.shares[other]) * set.rates[other];
            Some(used / network.capacity[*r as usize])
        };
        tight.iter().filter_map(use_).sum()
    };
    let mut rivals: Vec<(f64, usize)> =
        (0..set.laid.len()).filter(|&other| other != job).map(|other| (part(other), other)).collect();
    rivals.retain(|&(part, _)| part > 0.0);
    rivals.sort_by(|a, b| b.0.total_cmp(&a.0));
    rivals.into_iter().map(|(_, other)| other).collect()
}
