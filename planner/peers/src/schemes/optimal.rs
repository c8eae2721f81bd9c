//! The least time of a round, then the most receivers within it (SELMCAST, (12)).

use crate::equal::Equal;
use crate::pairs::Pairs;
use crate::plan_error::PlanError;
use crate::problem::Problem;
use crate::unequal::{self, Effort};

/// Most peers with unequal updates that the solver handles.
const MOST_PEERS: usize = 24;
/// Limits of the search.
const EFFORT: Effort = Effort { sets: 200_000, nodes: 20_000 };
/// Largest relative distance from the least time.
const GAP: f64 = 1e-9;

/// Returns the selection.
///
/// # Errors
/// The updates are unequal and the peers too many; the solver fails.
pub(crate) fn select(problem: &Problem, job: &str) -> Result<Pairs, PlanError> {
    match Equal::new(problem) {
        Some(equal) => Ok(by_flows(&equal)),
        None => by_program(problem, job),
    }
}

/// Handles equal updates: bisection over all times at which a port ends, with an integer flow for each.
fn by_flows(equal: &Equal<'_>) -> Pairs {
    let times = equal.candidates();
    let least = times.partition_point(|&seconds| equal.within(seconds).is_none());
    let seconds = times[least.min(times.len() - 1)];
    match equal.within(seconds) {
        Some(assignment) => equal.most(assignment, seconds),
        // At the last of the times, every peer can send to every other.
        None => unreachable!("every peer can send to every other within the greatest time"),
    }
}

fn by_program(problem: &Problem, job: &str) -> Result<Pairs, PlanError> {
    let peers = problem.peers();
    if peers > MOST_PEERS {
        return Err(PlanError::TooLarge { job: job.to_owned(), peers, most: MOST_PEERS });
    }
    let too_hard = || PlanError::TooHard { job: job.to_owned() };
    let best = unequal::least(problem, GAP, EFFORT).map_err(PlanError::Solver)?.ok_or_else(too_hard)?;
    let seconds = problem.seconds(&best);
    let start = unequal::further(problem, &best, seconds);
    let most = unequal::most_receivers(problem, seconds, &start, EFFORT.nodes);
    most.map_err(PlanError::Solver)?.ok_or_else(too_hard)
}
