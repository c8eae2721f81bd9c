//! f~, the optimum of the relaxation LP-InArt, Eq. (5), without a plan.

use crate::choices::{Paths, Results};
use crate::lp;
use crate::model::Model;
use crate::placement::equal_shares;
use crate::plan_error::PlanError;
use crate::router::Router;
use crate::solve::{feasible, relax};
use inart_topologies::switched::{Job, Topology};

/// How to find f~.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LpMethod {
    /// The closed form where even routing certifies it, else the program: what planning does.
    Quickest,
    /// The program in any case: racks merged, columns and link rows as needed, by HiGHS.
    Program,
}

/// f~ in bit/s: what every worker could send if gradients could be split over aggregators and paths at will,
/// with the shares free or equal; results are ignored, as in the InArt paper. No plan that adds each gradient
/// up at most once is faster, over whatever simple paths.
///
/// # Errors
/// As [`crate::plan()`] for jobs that cannot be planned, and where the solver gives up.
pub fn lp_bound(topology: &Topology, job: &Job, equal: bool, method: LpMethod) -> Result<f64, PlanError> {
    lp_bound_over(topology, job, equal, (Paths::Any, Results::Ignored), method)
}

/// The same for plans over these paths, with results counted or ignored.
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
