//! Rounds of unequal updates, for which the least time is hard to find (SELMCAST, Theorem 1): a selection,
//! and a lower bound.

mod balance;
mod bound;
mod cover;
mod exchange;
mod loads;
mod most;
mod sets;

use crate::pairs::Pairs;
use crate::problem::Problem;
use cover::Answer;
use inart_virtual::SplitMix64;

pub(crate) use balance::further;
pub(crate) use cover::Effort;
pub(crate) use most::most_receivers;

/// Relative distance from the lower bound at which the search ends.
const CLOSE: f64 = 0.002;
/// Gap above which cuts are computed, and the search restarts from random selections.
const WIDE: f64 = 0.01;
/// Gap above which the solver runs, which leaves the previous one. Large networks do not need it.
const VERY_WIDE: f64 = 0.02;
const LEFT: f64 = 0.015;
const EFFORT: Effort = Effort { sets: 20_000, nodes: 500 };
/// Steps of the search per peer.
const STEPS: usize = 20;
/// Restarts of the search, divided by the number of peers; and the fewest.
const TRIES: usize = 40_000;
const LEAST_TRIES: usize = 50;

/// A selection with the fewest receivers, and a lower bound in seconds.
pub(crate) struct Balanced {
    pub chosen: Pairs,
    pub bound_s: f64,
}

/// Returns the best selection found, and a proven bound.
///
/// # Errors
/// The solver fails.
pub(crate) fn balanced(problem: &Problem) -> Result<Balanced, String> {
    let mut bound_s = bound::floor(problem).max(bound::average(problem));
    let mut loads = balance::largest_first(problem);
    balance::improve(&mut loads, bound_s * (1.0 + CLOSE), STEPS * problem.peers());
    let mut seconds = problem.seconds(&loads.chosen);
    if seconds > bound_s * (1.0 + WIDE) {
        bound_s = bound::by_cuts(problem, bound_s, seconds);
    }
    if seconds > bound_s * (1.0 + WIDE) {
        let tries = (TRIES / problem.peers()).max(LEAST_TRIES);
        balance::shake(&mut loads, bound_s * (1.0 + CLOSE), tries, &mut SplitMix64::new(0));
        seconds = problem.seconds(&loads.chosen);
    }
    let mut best = Balanced { chosen: loads.chosen, bound_s: bound_s.min(seconds) };
    if seconds > bound_s * (1.0 + VERY_WIDE) {
        close_in(problem, &mut best, LEFT, EFFORT)?;
    }
    Ok(best)
}

/// Asks the solver for selections that are faster by `gap`, until there are none. Returns whether that is
/// proven.
fn close_in(problem: &Problem, best: &mut Balanced, gap: f64, effort: Effort) -> Result<bool, String> {
    loop {
        let asked_s = problem.seconds(&best.chosen) / (1.0 + gap);
        if asked_s <= best.bound_s {
            return Ok(true);
        }
        match cover::within(problem, asked_s, effort)? {
            Answer::Within(chosen) if problem.seconds(&chosen) < problem.seconds(&best.chosen) => {
                best.chosen = chosen;
            }
            Answer::Never => best.bound_s = asked_s,
            Answer::Within(_) | Answer::Unknown => return Ok(false),
        }
    }
}

/// Returns the least time up to `gap`, relatively, and a selection that takes it; `None` if the search
/// reaches its limit.
///
/// # Errors
/// The solver fails.
pub(crate) fn least(problem: &Problem, gap: f64, effort: Effort) -> Result<Option<Pairs>, String> {
    let mut best = balanced(problem)?;
    // From coarse to fine: far from the least time, selections are found soon.
    for gap in [1e-2, 1e-3, 1e-4, 1e-5, gap] {
        if !close_in(problem, &mut best, gap, effort)? {
            return Ok(None);
        }
    }
    Ok(Some(best.chosen))
}
