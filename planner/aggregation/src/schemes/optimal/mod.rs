//! `exact`: the optimum of Eq. (1) by integer programming, for small networks.

pub(crate) mod program;

use super::optimized::ours;
use super::optimized::starts::{self, Best};
use crate::finish;
use crate::integer::{SLACK, distinguishable, proven_rate};
use crate::options::{Options, Problem, Promises, Scheme, SeveralJobs, Shares};
use crate::passes;
use crate::plan::{Bounds, Plan};
use crate::plan_error::PlanError;
use crate::router::Router;
use program::{Answer, Effort};

const EFFORT: Effort = Effort { binaries: 3000, nodes: 200_000 };

/// Eq. (1), solved.
#[derive(Debug, Clone, Copy)]
pub struct Optimal;

impl Scheme for Optimal {
    fn name(&self) -> &'static str {
        "optimal"
    }

    fn summary(&self) -> &'static str {
        "optimum by integer programming, for small networks"
    }

    fn promises(&self) -> Promises {
        Promises {
            shares: Shares::Free,
            several_jobs: SeveralJobs::InTurn,
            small_networks_only: true,
            ..Promises::default()
        }
    }

    fn plan(&self, problem: &Problem<'_>) -> Result<Plan, PlanError> {
        let Problem { router, options } = *problem;
        let mut bounds = problem.bounds();
        let best = whole_program(router, options, &mut bounds)?;
        Ok(finish::write(router.model, options, &best.placement, &best.rated.shares, bounds))
    }
}

/// Solves the integer program over plans from slightly below the result of scheme `optimized` on. If it finds
/// no plan, it is wrong, and that scheme's bound is used.
fn whole_program(router: &Router<'_>, options: &Options<'_>, bounds: &mut Bounds) -> Result<Best, PlanError> {
    let equal = options.equal_shares;
    let ours = ours(router, options, bounds, None);
    let known = ours.rated.rate;
    let wide = router.widest();
    let asked =
        |clear: bool| program::solve(wide, equal, known * (1.0 - SLACK), clear, EFFORT, &|| f64::INFINITY);
    let (placement, proven) = match asked(false) {
        Answer::Unknown => return Err(PlanError::TooLarge { job: router.model.job.name.clone() }),
        Answer::None => return Ok(ours),
        Answer::Best { placement, proven } => (placement, proven),
    };
    let most = proven_rate(wide, &placement, equal, (known, proven));
    let is_clear = passes::are_clear(wide.model, &placement);
    let found = starts::clear(wide, placement, equal);
    let mut best = if known > found.rated.rate { ours } else { found };
    if !is_clear {
        best = distinguishable(wide, asked(true), equal, best);
    }
    if let Some(most) = most {
        bounds.integral_bps = bounds.integral_bps.min(most.max(best.rated.rate));
    }
    Ok(best)
}
