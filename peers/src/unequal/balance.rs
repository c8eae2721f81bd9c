//! Receivers for unequal updates: the largest first, then one update after the other away from the slowest port.

use super::loads::Loads;
use crate::pairs::Pairs;
use crate::problem::Problem;

/// A step has to gain this much, relatively, or the search ends.
const LEAST_GAIN: f64 = 1e-9;
/// With how many of the emptiest receivers the slowest one exchanges updates.
const PARTNERS: usize = 64;

/// Each update, the largest first, goes to the receivers that it leaves done soonest.
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
            loads.add(from, to);
        }
    }
    loads
}

/// A change at the slowest port: an update goes to another receiver, and perhaps one comes back for it.
#[derive(Clone, Copy)]
struct Step {
    goes: usize,
    comes: Option<usize>,
    with: usize,
    /// When the later of both ports is done after it, in seconds.
    seconds: f64,
}

/// Moves and exchanges updates until the slowest port is done by `enough_s`, or nothing helps, or so many steps
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
        let Some(step) = best_step(loads, slowest, &order[..partners]) else { break };
        if step.seconds > now * (1.0 - LEAST_GAIN) {
            break;
        }
        loads.take(step.goes, slowest);
        if let Some(comes) = step.comes {
            loads.take(comes, step.with);
            loads.add(comes, slowest);
        }
        loads.add(step.goes, step.with);
    }
}

/// The step that leaves the later of both ports done soonest.
fn best_step(loads: &Loads<'_>, slowest: usize, partners: &[usize]) -> Option<Step> {
    let mut best: Option<Step> = None;
    for &with in partners.iter().filter(|&&with| with != slowest) {
        if best.is_some_and(|best| best.seconds <= loads.seconds(with)) {
            break;
        }
        let step = step_between(loads, slowest, with);
        if let Some(step) = step.filter(|step| best.is_none_or(|best| step.seconds < best.seconds)) {
            best = Some(step);
        }
    }
    best
}

/// The best step between two ports. What should change sides is the amount that leaves both done at once; of all
/// pairs of updates the one whose difference is next to it is found by going through both in order.
fn step_between(loads: &Loads<'_>, slowest: usize, with: usize) -> Option<Step> {
    let (from_bps, to_bps) = (loads.bps(slowest), loads.bps(with));
    let wanted = (loads.down[slowest] * to_bps - loads.down[with] * from_bps) / (from_bps + to_bps);
    let after =
        |moved: f64| ((loads.down[slowest] - moved) / from_bps).max((loads.down[with] + moved) / to_bps);
    let going = || loads.senders[slowest].iter().copied().filter(|&from| loads.is_free(from, with));
    let coming: Vec<usize> =
        loads.senders[with].iter().copied().filter(|&from| loads.is_free(from, slowest)).collect();
    let mut best: Option<Step> = None;
    let mut consider = |goes: usize, comes: Option<usize>| {
        let moved = loads.bits(goes) - comes.map_or(0.0, |comes| loads.bits(comes));
        let step = Step { goes, comes, with, seconds: after(moved) };
        if moved > 0.0 && best.is_none_or(|best| step.seconds < best.seconds) {
            best = Some(step);
        }
    };
    let mut at = 0;
    for goes in going() {
        consider(goes, None);
        // The last one that leaves more than wanted, and the one after it.
        while at < coming.len() && loads.bits(goes) - loads.bits(coming[at]) > wanted {
            at += 1;
        }
        for near in [at.checked_sub(1), Some(at)].into_iter().flatten() {
            if let Some(&comes) = coming.get(near) {
                consider(goes, Some(comes));
            }
        }
    }
    best
}

/// Further receivers within a time: the smallest updates first, for as many as possible.
pub(super) fn further(problem: &Problem, chosen: &Pairs, seconds: f64) -> Pairs {
    let n = problem.peers();
    let mut loads = Loads::of(problem, chosen);
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| problem.bits[a].total_cmp(&problem.bits[b]));
    for from in order {
        let spare = problem.most_receivers(from, seconds).saturating_sub(loads.chosen.count(from));
        let fits = |to: &usize| {
            loads.is_free(from, *to) && (loads.down[*to] + loads.bits(from)) / loads.bps(*to) <= seconds
        };
        let mut free: Vec<usize> = (0..n).filter(fits).collect();
        free.sort_by_key(|&to| std::cmp::Reverse(problem.waited.of(from, to)));
        for to in free.into_iter().take(spare) {
            loads.add(from, to);
        }
    }
    loads.chosen
}
