//! Rounds of unequal updates, in which the least time is hard to find (SELMCAST, Theorem 1): a selection, and what
//! none can beat.

mod balance;
mod bound;
mod loads;
mod program;

use crate::pairs::Pairs;
use crate::problem::Problem;

pub(crate) use program::{Effort, least_time, most_receivers};

/// Whoever is this close to what cannot be beaten does not look further, relatively.
const CLOSE: f64 = 0.002;
/// From this gap on cuts and the solver are asked.
const WIDE: f64 = 0.01;
/// The solver ends at this gap, on networks of at most so many peers, after so many nodes.
const SOLVER_GAP: f64 = 0.01;
const SOLVER_PEERS: usize = 40;
const SOLVER_NODES: i32 = 2_000;
/// Steps of the search per peer.
const STEPS: usize = 20;

/// A selection with the fewest receivers, how long it takes and what none can beat, in seconds.
pub(crate) struct Balanced {
    pub chosen: Pairs,
    pub bound_s: f64,
}

/// The best selection that is found, and a proven bound.
///
/// # Errors
/// What the solver says.
pub(crate) fn balanced(problem: &Problem) -> Result<Balanced, String> {
    let floor = bound::floor(problem);
    let mut bound_s = floor.max(bound::average(problem));
    let mut loads = balance::largest_first(problem);
    balance::improve(&mut loads, bound_s * (1.0 + CLOSE), STEPS * problem.peers());
    let mut chosen = loads.chosen;
    let mut seconds = problem.seconds(&chosen);
    if seconds > bound_s * (1.0 + WIDE) {
        bound_s = bound::by_cuts(problem, bound_s, seconds);
    }
    if seconds > bound_s * (1.0 + WIDE) && problem.peers() <= SOLVER_PEERS {
        let effort = Effort { gap: SOLVER_GAP, nodes: SOLVER_NODES };
        let found = program::least_time(problem, bound_s, seconds, &effort)?;
        bound_s = bound_s.max(found.bound.min(seconds));
        let other = problem.seconds(&found.chosen);
        if other < seconds {
            (chosen, seconds) = (found.chosen, other);
        }
    }
    Ok(Balanced { chosen, bound_s: bound_s.min(seconds) })
}

/// As many further receivers as are found within a time.
pub(crate) fn further(problem: &Problem, chosen: &Pairs, seconds: f64) -> Pairs {
    balance::further(problem, chosen, seconds)
}
