//! Ours: the least time for equal updates, from cut to cut; for unequal ones the largest first and exchanges,
//! beside a proven bound. Then as many further receivers as cost no time.

use crate::equal::Equal;
use crate::pairs::Pairs;
use crate::plan_error::PlanError;
use crate::problem::Problem;
use crate::unequal;

/// The selection, and the time that no selection beats, in seconds.
///
/// # Errors
/// What the solver says.
pub(crate) fn select(problem: &Problem) -> Result<(Pairs, f64), PlanError> {
    if let Some(equal) = Equal::new(problem) {
        let (seconds, assignment) = equal.least();
        return Ok((equal.most(assignment, seconds), seconds));
    }
    let found = unequal::balanced(problem).map_err(PlanError::Solver)?;
    let chosen = unequal::further(problem, &found.chosen, problem.seconds(&found.chosen));
    Ok((chosen, found.bound_s))
}
