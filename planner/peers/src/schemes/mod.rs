//! Schemes: compute receivers from a round's problem.

mod optimal;
mod optimized;
mod optimized_ssp;
mod orpheus;
mod selmcast;
mod selmcast_ssp;

use crate::equal::Equal;
use crate::pairs::Pairs;
use crate::plan_error::PlanError;
use crate::problem::Problem;
use crate::scheme::Scheme;
use crate::unequal;
use inart_virtual::SplitMix64;

pub use optimized_ssp::join;
pub use selmcast_ssp::{Guard, Reading, Reselected, Setting, Task, reselect};

pub use orpheus::receivers_of;

/// Returns the receivers of a round.
///
/// With [`Scheme::Own`] the required ones are chosen, and receivers with the lightest ports only where those
/// are too few. `second_pass`: whether `selmcast` adds receivers that cost no time. `random`: generator for
/// `orpheus`.
///
/// # Errors
/// The topology is too large for `optimal`; the solver fails.
pub fn select(
    problem: &Problem,
    scheme: Scheme,
    second_pass: bool,
    random: &mut SplitMix64,
    job: &str,
) -> Result<Pairs, PlanError> {
    match scheme {
        Scheme::Optimized => optimized::select(problem, &[]).map(|(chosen, _)| chosen),
        Scheme::Selmcast => Ok(selmcast::select(problem, second_pass)),
        Scheme::Orpheus => Ok(orpheus::select(&problem.required, problem.receivers, random)),
        Scheme::Optimal => optimal::select(problem, job),
        Scheme::Own => Ok(selmcast::select(problem, false)),
    }
}

/// Returns the receivers of a round by `optimized`, and a lower bound on the time in seconds. The round takes
/// no longer than one whose receivers `orpheus` draws from `random`.
///
/// # Errors
/// The solver fails.
pub(crate) fn select_with_bound(
    problem: &Problem,
    random: &mut SplitMix64,
) -> Result<(Pairs, f64), PlanError> {
    let drawn = orpheus::select(&problem.required, problem.receivers, random);
    optimized::select(problem, &[drawn])
}

/// Returns a proven lower bound on the time of a round with any receivers, in seconds: with equal updates the
/// least time.
///
/// # Errors
/// The solver fails.
pub fn bound_seconds(problem: &Problem) -> Result<f64, PlanError> {
    match Equal::new(problem) {
        Some(equal) => Ok(equal.least().0),
        None => Ok(unequal::balanced(problem).map_err(PlanError::Solver)?.bound_s),
    }
}
