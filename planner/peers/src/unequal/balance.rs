//! Receivers for unequal updates: the largest first, then moves updates away from the slowest port one by
//! one.

use std::cmp::Reverse;

use super::exchange::{self, Step};
use super::loads::Loads;
use crate::pairs::Pairs;
use crate::problem::Problem;
use inart_virtual::SplitMix64;

/// Least relative gain of a step; otherwise the search ends.
const LEAST_GAIN: f64 = 1e-9;
/// Number of emptiest receivers with which the slowest one exchanges updates.
const PARTNERS: usize = 64;
/// Number of ports that are emptied next to the slowest, for a new start.
const SHAKEN: usize = 4;
/// Random relative change of sizes for the order of updates then.
const LUCK: f64 = 0.3;

/// Assigns each update, the largest first, to the receivers that are then done soonest.
pub(super) fn largest_first(problem: &Problem) -> Loads<'_> {
    let n = problem.peers();
    let mut loads = Loads::required(problem);
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| problem.bits[b].total_cmp(&problem.bits[a]));
    let mut free: Vec<(f64, usize)> = Vec::with_capacity(n);
    for from in order {
        let need = problem.least_receivers(from) - problem.required.count(from);
        if need == 0 {
            continue;
        }
        free.clear();
        let others = (0..n).filter(|&to| loads.is_free(from, to));
        free.extend(others.map(|to| ((loads.down[to] + loads.bits(from)) / loads.bps(to), to)));
        if need < free.len() {
            free.select_nth_unstable_by(need - 1, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        }
        for &(_, to) in free.iter().take(need) {
            loads.add_smallest(from, to);
        }
    }
    loads.sort();
    loads
}

/// Moves and exchanges updates until the slowest port is done by `enough_s`, no step helps, or `steps` steps
/// were made.
pub(super) fn improve(loads: &mut Loads<'_>, enough_s: f64, steps: usize) {
    let mut order: Vec<usize> = (0..loads.down.len()).collect();
    for _ in 0..steps {
        let slowest = loads.slowest();
        let now = loads.seconds(slowest);
        if now <= enough_s {
            break;
        }
        let by_seconds = |a: &usize, b: &usize| loads.seconds(*a).total_cmp(&loads.seconds(*b));
        if order.len() > PARTNERS {
            order.select_nth_unstable_by(PARTNERS, by_seconds);
        }
        let partners = order.len().min(PARTNERS);
        order[..partners].sort_unstable_by(by_seconds);
        let step = best_step(loads, slowest, &order[..partners]);
        let Some(step) = step.filter(|step| step.seconds <= now * (1.0 - LEAST_GAIN)) else { break };
        step.comes.iter().for_each(|&from| loads.take(from, step.with));
        for &from in &step.goes {
            loads.take(from, slowest);
            loads.add(from, step.with);
        }
        step.comes.iter().for_each(|&from| loads.add(from, slowest));
    }
}

/// Returns the step after which the later of both ports is done soonest.
fn best_step(loads: &Loads<'_>, slowest: usize, partners: &[usize]) -> Option<Step> {
    let mut best: Option<Step> = None;
    for &with in partners.iter().filter(|&&with| with != slowest) {
        if best.as_ref().is_some_and(|best| best.seconds <= loads.seconds(with)) {
            break;
        }
        let step = exchange::between(loads, slowest, with);
        if step.as_ref().is_some_and(|step| best.as_ref().is_none_or(|best| step.seconds < best.seconds)) {
            best = step;
        }
    }
    best
}

/// Empties the slowest port and a few random ones, fills them again and improves the result; continues from
/// the better one. Ends by `enough_s`, or after `tries` tries.
pub(super) fn shake(loads: &mut Loads<'_>, enough_s: f64, tries: usize, random: &mut SplitMix64) {
    let n = loads.down.len();
    let all: Vec<usize> = (0..n).collect();
    for _ in 0..tries {
        let slowest = loads.slowest();
        let now = loads.seconds(slowest);
        if now <= enough_s {
            break;
        }
        let mut other = loads.clone();
        let mut emptied = random.sample(&all, SHAKEN.min(n - 1));
        emptied.push(slowest);
        empty_and_fill(&mut other, &emptied, random);
        improve(&mut other, enough_s, SHAKEN * SHAKEN);
        if other.seconds(other.slowest()) <= now {
            *loads = other;
        }
    }
}

/// Removes the updates of these ports and assigns each, the largest first with some randomness, to the port
/// that is done soonest with it.
fn empty_and_fill(loads: &mut Loads<'_>, ports: &[usize], random: &mut SplitMix64) {
    let mut updates = Vec::new();
    for &to in ports {
        for from in std::mem::take(&mut loads.senders[to]) {
            loads.chosen.remove(from, to);
            updates.push((loads.bits(from) * random.uniform(1.0 - LUCK, 1.0 + LUCK), from, to));
        }
        loads.down[to] = loads.base(to);
    }
    updates.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (_, from, home) in updates {
        let after = |to: usize| (loads.down[to] + loads.bits(from)) / loads.bps(to);
        let free = ports.iter().copied().filter(|&to| loads.is_free(from, to));
        let to = free.min_by(|&a, &b| after(a).total_cmp(&after(b))).unwrap_or(home);
        loads.add(from, to);
    }
}

/// Returns further receivers within a time: the smallest updates first, for as many as possible.
pub(crate) fn further(problem: &Problem, chosen: &Pairs, seconds: f64) -> Pairs {
    let n = problem.peers();
    let (mut chosen, bps) = (chosen.clone(), &problem.ports.down_bps);
    let mut down = vec![0.0; n];
    chosen.iter().for_each(|(from, to)| down[to] += problem.bits[from]);
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| problem.bits[a].total_cmp(&problem.bits[b]));
    let mut free: Vec<(Reverse<u32>, usize)> = Vec::with_capacity(n);
    for from in order {
        let spare = problem.most_receivers(from, seconds).saturating_sub(chosen.count(from));
        let bits = problem.bits[from];
        let fits =
            |to: &usize| *to != from && !chosen.has(from, *to) && (down[*to] + bits) / bps[*to] <= seconds;
        free.clear();
        free.extend((0..n).filter(fits).map(|to| (Reverse(problem.waited.of(from, to)), to)));
        if spare < free.len() {
            free.sort_unstable();
            free.truncate(spare);
        }
        for &(_, to) in &free {
            chosen.insert(from, to);
            down[to] += bits;
        }
    }
    chosen
}
