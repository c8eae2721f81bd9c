//! SELMCAST, Algorithm 1: receivers for a round of bulk synchronous training.
//!
//! As corrected (docs/explanation/peers.md, "How the SELMCAST paper is read"): line 10 weighs by the
//! receiver's own egress, lines 19 and 25 hold each load against its own port.

use crate::pairs::Pairs;
use crate::problem::Problem;

/// Relative tolerance when a load is compared with a time: sums of floats.
const ROUNDING: f64 = 1e-12;

/// Runs the first pass, basic selection, and with `second_pass` the Pareto improvement.
pub(crate) fn select(problem: &Problem, second_pass: bool) -> Pairs {
    let mut chosen = problem.required.clone();
    let mut down = vec![0.0; problem.peers()];
    chosen.iter().for_each(|(from, to)| down[to] += problem.bits[from]);
    basic(problem, &mut chosen, &mut down);
    if second_pass {
        improve(problem, &mut chosen, &mut down);
    }
    chosen
}

/// Lines 7 to 14: senders with most required receivers first; each takes the receivers with the lightest
/// load.
fn basic(problem: &Problem, chosen: &mut Pairs, down: &mut [f64]) {
    let mut order: Vec<usize> = (0..problem.peers()).collect();
    order.sort_by_key(|&from| std::cmp::Reverse(problem.required.count(from)));
    let mut others: Vec<(f64, usize)> = Vec::with_capacity(problem.peers());
    for from in order {
        let needed = problem.receivers.saturating_sub(chosen.count(from));
        let free = (0..problem.peers()).filter(|&to| to != from && !chosen.has(from, to));
        others.clear();
        others.extend(free.map(|to| ((problem.bits[from] + down[to]) / problem.ports.down_bps[to], to)));
        others.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for &(_, to) in others.iter().take(needed) {
            chosen.insert(from, to);
            down[to] += problem.bits[from];
        }
    }
}

/// Lines 15 to 28: pairs that have waited longest first, as far as they fit into the time of the first pass.
fn improve(problem: &Problem, chosen: &mut Pairs, down: &mut [f64]) {
    let n = problem.peers();
    let most = problem.seconds(chosen) * (1.0 + ROUNDING);
    let all = (0..n).flat_map(|from| (0..n).map(move |to| (from, to)));
    let mut left: Vec<_> = all.filter(|&(from, to)| from != to && !chosen.has(from, to)).collect();
    left.sort_by_key(|&(from, to)| std::cmp::Reverse(problem.waited.of(from, to)));
    let mut counts: Vec<usize> = (0..n).map(|from| chosen.count(from)).collect();
    for (from, to) in left {
        let load = down[to] + problem.bits[from];
        let fits = problem.up_seconds(from, counts[from] + 1) <= most;
        if fits && load / problem.ports.down_bps[to] <= most {
            chosen.insert(from, to);
            down[to] = load;
            counts[from] += 1;
        }
    }
}
