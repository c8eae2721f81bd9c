//! The least time of a round, then the most receivers within it (SELMCAST, (12)).

use crate::equal::Equal;
use crate::pairs::Pairs;
use crate::plan_error::PlanError;
use crate::problem::Problem;
use crate::unequal::{self, Effort};

/// Networks of unequal updates that the solver is asked about.
const MOST_PEERS: usize = 24;
/// When the search is given up.
const EFFORT: Effort = Effort { sets: 200_000, nodes: 20_000 };
/// By how much a time may be above the least one, relatively.
const GAP: f64 = 1e-9;

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
    let too_hard = || PlanError::TooHard { job: job.to_owned() };
    let best = unequal::least(problem, GAP, EFFORT).map_err(PlanError::Solver)?.ok_or_else(too_hard)?;
    let seconds = problem.seconds(&best);
    let start = unequal::further(problem, &best, seconds);
    let most = unequal::most_receivers(problem, seconds, &start, EFFORT.nodes);
    most.map_err(PlanError::Solver)?.ok_or_else(too_hard)
}
