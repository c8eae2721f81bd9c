//! Lower bounds for unequal updates.

use crate::problem::Problem;

/// Relative precision of the bisection; the bound is the time that is proven to be too short.
const PRECISION: f64 = 1e-9;

/// Returns the least time by single ports and single updates, in seconds: copies on outgoing ports, required
/// pairs on incoming ports, and for each update its best receivers next to their required load.
pub(super) fn floor(problem: &Problem) -> f64 {
    let n = problem.peers();
    let required = required_bits(problem);
    let bps = &problem.ports.down_bps;
    let up = (0..n).map(|from| problem.up_seconds(from, problem.least_receivers(from)));
    let down = (0..n).map(|to| required[to] / bps[to]);
    let alone = (0..n).map(|from| {
        let need = problem.least_receivers(from) - problem.required.count(from);
        let free = (0..n).filter(|&to| to != from && !problem.required.has(from, to));
        let mut seconds: Vec<f64> = free.map(|to| (required[to] + problem.bits[from]) / bps[to]).collect();
        match need {
            0 => 0.0,
            _ => *seconds.select_nth_unstable_by(need - 1, f64::total_cmp).1,
        }
    });
    up.chain(down).chain(alone).fold(0.0, f64::max)
}

fn required_bits(problem: &Problem) -> Vec<f64> {
    let mut required = vec![0.0; problem.peers()];
    problem.required.iter().for_each(|(from, to)| required[to] += problem.bits[from]);
    required
}

/// Returns the time that all ports together need, in seconds: all incoming bits over the sum of all rates.
pub(super) fn average(problem: &Problem) -> f64 {
    let bits: f64 =
        (0..problem.peers()).map(|from| problem.bits[from] * problem.least_receivers(from) as f64).sum();
    bits / problem.ports.down_bps.iter().sum::<f64>()
}

/// Returns the least time that cuts prove, in seconds, from `low`, which is proven, up to `high`.
///
/// A cut is a set of receivers. Within a time an update cannot go to receivers whose required load leaves no
/// room for it; copies that do not fit outside the cut must go into it; the time is too short if that exceeds
/// the cut's ports. The cut is chosen greedily: any cut gives a valid bound.
pub(super) fn by_cuts(problem: &Problem, low: f64, high: f64) -> f64 {
    let required = required_bits(problem);
    let is_too_short = |seconds: f64| violates(problem, &required, seconds);
    let (mut low, mut high) = (low, high);
    while high - low > PRECISION * high {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if is_too_short(middle) { low = middle } else { high = middle }
    }
    low
}

/// Returns whether a cut shows that this time is too short.
fn violates(problem: &Problem, required: &[f64], seconds: f64) -> bool {
    let n = problem.peers();
    let room: Vec<f64> = (0..n).map(|to| seconds * problem.ports.down_bps[to] - required[to]).collect();
    let may = |from: usize, to: usize| {
        from != to && !problem.required.has(from, to) && problem.bits[from] <= room[to] * (1.0 + 1e-12)
    };
    let need: Vec<usize> =
        (0..n).map(|from| problem.least_receivers(from) - problem.required.count(from)).collect();
    let mut outside = vec![0usize; n];
    let mut load: f64 = (0..n).map(|from| need[from] as f64 * problem.bits[from]).sum();
    let mut carried: f64 = room.iter().sum();
    // Receivers with most room leave the cut first.
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_unstable_by(|&a, &b| room[b].total_cmp(&room[a]));
    // Rounding errors of sums this large prove nothing.
    let rounding = 1e-9 * (load + carried);
    let is_more = |load: f64, carried: f64| load > carried.max(0.0) + rounding;
    if (0..n).any(|from| (0..n).filter(|&to| may(from, to)).count() < need[from]) || is_more(load, carried) {
        return true;
    }
    for to in order {
        let placed = (0..n).filter(|&from| outside[from] < need[from] && may(from, to));
        let placed: f64 = placed.map(|from| problem.bits[from]).sum();
        (0..n).filter(|&from| may(from, to)).for_each(|from| outside[from] += 1);
        load -= placed;
        carried -= room[to];
        if is_more(load, carried) {
            return true;
        }
    }
    false
}
