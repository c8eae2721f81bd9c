//! f~, the optimum of the relaxation LP-InArt, Eq. (5), without a plan.

use crate::choices::{Paths, Results};
use crate::lp;
use crate::model::Model;
use crate::placement::equal_shares;
use crate::plan_error::PlanError;
use crate::router::Router;
use crate::solve::{feasible, relax};
use inart_topologies::switched::{Job, Topology};

/// Method to compute f~.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LpMethod {
    /// Closed form if even routing certifies it, else the program, as in planning.
    Quickest,
    /// The program in any case: racks merged, columns and link rows as needed, by HiGHS.
    Program,
}

/// Returns f~ in bit/s: the rate of every worker if gradients could be split arbitrarily over aggregators and
/// paths, with the shares free or equal; results are ignored, as in the InArt paper. No plan that aggregates
/// each gradient at most once is faster, over any simple paths.
///
/// # Errors
///
/// As [`crate::plan()`] for jobs that cannot be planned, and if the solver fails.
pub fn lp_bound(topology: &Topology, job: &Job, equal: bool, method: LpMethod) -> Result<f64, PlanError> {
    lp_bound_over(topology, job, equal, (Paths::Any, Results::Ignored), method)
}

/// Returns f~ for plans over these paths, with results counted or ignored.
///
/// # Errors
/// As [`lp_bound`].
pub fn lp_bound_over(
    topology: &Topology,
    job: &Job,
    equal: bool,
    (paths, results): (Paths, Results),
    method: LpMethod,
) -> Result<f64, PlanError> {
    let model = Model::new(topology, job, results);
    let router = Router::new(&model, paths);
    feasible(&router)?;
    let equal = equal.then(|| equal_shares(model.servers.len()));
    let forever = || f64::INFINITY;
    let solution = match method {
        LpMethod::Quickest => relax(&router, equal.as_deref(), &forever)?,
        LpMethod::Program => lp::solve(&router, equal.as_deref(), &forever)
            .map_err(|reason| PlanError::Solver { job: job.name.clone(), reason })?,
    };
    let solution = solution.expect("invariant: only a time limit leaves the LP unsolved");
    Ok(solution.proven)
}
