//! `inart` and `r-inart`: InArt and R-InArt as the InArt paper publishes them. An optimum of LP-InArt for
//! given shares, rounded at random.

pub(crate) mod rounding;

use crate::finish;
use crate::options::{Problem, Promises, Scheme, Shares};
use crate::passes;
use crate::phase1;
use crate::plan::Plan;
use crate::plan_error::PlanError;
use crate::solve::relax;

/// The InArt paper's InArt: shares from phase 1, then LP-InArt and randomized rounding (Alg. 2).
#[derive(Debug, Clone, Copy)]
pub struct Inart;

/// The InArt paper's R-InArt: the same with equal shares.
#[derive(Debug, Clone, Copy)]
pub struct RInart;

impl Scheme for Inart {
    fn name(&self) -> &'static str {
        "inart"
    }

    fn summary(&self) -> &'static str {
        "InArt as published: shares in closed form, then the LP optimum, rounded at random"
    }

    fn promises(&self) -> Promises {
        Promises { shares: Shares::Fixed, stands_for: Some("InArt"), ..Promises::default() }
    }

    fn plan(&self, problem: &Problem<'_>) -> Result<Plan, PlanError> {
        rounded(problem, problem.options.equal_shares)
    }
}

impl Scheme for RInart {
    fn name(&self) -> &'static str {
        "r-inart"
    }

    fn summary(&self) -> &'static str {
        "R-InArt as published: equal shares, then the LP optimum, rounded at random"
    }

    fn promises(&self) -> Promises {
        Promises { shares: Shares::Equal, stands_for: Some("R-InArt"), ..Promises::default() }
    }

    fn plan(&self, problem: &Problem<'_>) -> Result<Plan, PlanError> {
        rounded(problem, true)
    }
}

fn rounded(problem: &Problem<'_>, equal: bool) -> Result<Plan, PlanError> {
    let Problem { router, options } = *problem;
    let model = router.model;
    let bounds = problem.bounds();
    let shares = phase1::shares(model, equal);
    let Some(fractional) = relax(router, Some(&shares), &|| f64::INFINITY)? else {
        return Err(PlanError::Solver { job: model.job.name.clone(), reason: "iteration limit".to_owned() });
    };
    let drawn = rounding::with_seed(router, &fractional, options.seed);
    let placement = passes::clear(router, drawn, &shares);
    let violation = Some(finish::violations(model, &placement, &shares, fractional.rate));
    Ok(Plan { violation, ..finish::write(model, options, &placement, &shares, bounds) })
}
