//! Scheme `optimized`: the least time for equal updates, from cut to cut; for unequal ones the largest first
//! and exchanges, next to a proven bound, or another scheme's receivers where those take less. Then as many
//! further receivers as cost no time.

use crate::equal::Equal;
use crate::pairs::Pairs;
use crate::plan_error::PlanError;
use crate::problem::Problem;
use crate::unequal;

use super::selmcast;

/// Returns the selection, and a lower bound on the time in seconds. The round takes no longer than one of
/// `selmcast` or of the `rivals`.
///
/// # Errors
/// The solver fails.
pub(crate) fn select(problem: &Problem, rivals: &[Pairs]) -> Result<(Pairs, f64), PlanError> {
    if let Some(equal) = Equal::new(problem) {
        let (seconds, assignment) = equal.least();
        return Ok((equal.most(assignment, seconds), seconds));
    }
    let found = unequal::balanced(problem).map_err(PlanError::Solver)?;
    // The second pass of `selmcast` takes no time.
    let selmcast = selmcast::select(problem, false);
    let all = [&found.chosen, &selmcast].into_iter().chain(rivals);
    let timed = all.map(|chosen| (problem.seconds(chosen), chosen));
    let (seconds, best) = timed.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::INFINITY, &found.chosen));
    Ok((unequal::further(problem, best, seconds), found.bound_s))
}
