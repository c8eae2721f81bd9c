//! The least time of a round, then the most receivers within it (SELMCAST, (12)).

use crate::equal::Equal;
use crate::pairs::Pairs;
use crate::plan_error::PlanError;
use crate::problem::Problem;
use crate::unequal::{self, Effort};

/// Networks of unequal updates that the integer program is asked about.
const MOST_PEERS: usize = 24;
/// Nodes after which the search is given up.
const MOST_NODES: i32 = 200_000;
/// What the solver leaves open, relatively.
const GAP: f64 = 1e-7;

/// The selection.
///
/// # Errors
/// Unequal updates of many peers; what the solver says.
pub(crate) fn select(problem: &Problem, job: &str) -> Result<Pairs, PlanError> {
    match Equal::new(problem) {
        Some(equal) => Ok(by_flows(&equal)),
        None => by_program(problem, job),
    }
}

/// Equal updates: bisection over all times at which a port ends, with an integer flow for each.
fn by_flows(equal: &Equal<'_>) -> Pairs {
    let times = equal.candidates();
    let least = times.partition_point(|&seconds| equal.within(seconds).is_none());
    let seconds = times[least.min(times.len() - 1)];
    match equal.within(seconds) {
        Some(assignment) => equal.most(assignment, seconds),
        // All peers to all others fits into the last of the times.
        None => unreachable!("every peer can send to every other within the greatest time"),
    }
}

fn by_program(problem: &Problem, job: &str) -> Result<Pairs, PlanError> {
    let peers = problem.peers();
    if peers > MOST_PEERS {
        return Err(PlanError::TooLarge { job: job.to_owned(), peers, most: MOST_PEERS });
    }
    let effort = Effort { gap: GAP, nodes: MOST_NODES };
    let start = unequal::balanced(problem).map_err(PlanError::Solver)?;
    let high = problem.seconds(&start.chosen);
    let least = unequal::least_time(problem, start.bound_s, high, &effort).map_err(PlanError::Solver)?;
    let too_hard = || PlanError::TooHard { job: job.to_owned(), nodes: MOST_NODES };
    if !least.is_done {
        return Err(too_hard());
    }
    let best = if problem.seconds(&least.chosen) < high { least.chosen } else { start.chosen };
    let seconds = problem.seconds(&best);
    let most = unequal::most_receivers(problem, seconds, &effort).map_err(PlanError::Solver)?;
    if !most.is_done {
        return Err(too_hard());
    }
    Ok(if most.chosen.len() > best.len() { most.chosen } else { best })
}
