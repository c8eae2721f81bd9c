//! `lbmm`: no aggregation, equal shares, as its authors have it.

use crate::finish;
use crate::model::NodeIx;
use crate::options::{Problem, Promises, Scheme, Shares};
use crate::placement::{Placement, equal_shares};
use crate::plan::Plan;
use crate::plan_error::PlanError;
use crate::router::Router;

/// Load-balanced many-to-many.
#[derive(Debug, Clone, Copy)]
pub struct Lbmm;

impl Scheme for Lbmm {
    fn name(&self) -> &'static str {
        "lbmm"
    }

    fn summary(&self) -> &'static str {
        "load-balanced many-to-many: no aggregation; the servers share the load"
    }

    fn promises(&self) -> Promises {
        Promises { shares: Shares::Equal, stands_for: Some("LBMM"), ..Promises::default() }
    }

    fn plan(&self, problem: &Problem<'_>) -> Result<Plan, PlanError> {
        let Problem { router, options } = *problem;
        let bounds = problem.bounds();
        let shares = equal_shares(router.model.servers.len());
        Ok(finish::write(router.model, options, &place(router), &shares, bounds))
    }
}

/// Every worker sends straight to every server, on the least-loaded shortest paths.
pub(crate) fn place(router: &Router<'_>) -> Placement {
    let model = router.model;
    let ends: Vec<Vec<NodeIx>> = model.servers.iter().map(|&s| vec![s; model.workers.len()]).collect();
    router.place(&ends)
}
