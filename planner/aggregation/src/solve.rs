//! Plans one job: checks that it can be planned, then calls the scheme.

use crate::choices::{Levels, Results};
use crate::fractional::{self, Fractional};
use crate::lp;
use crate::model::{Model, NodeIx};
use crate::options::{Options, Problem};
use crate::plan::Plan;
use crate::plan_error::PlanError;
use crate::router::Router;
use inart_topologies::switched::{Job, Topology};

/// Flows times switches from which on a plan that meets the closed form is one without any LP.
const LARGE: usize = 100_000;

/// Plans one job on one network. [`Plan::solve_ms`] stays 0: the caller owns the clock.
///
/// # Errors
///
/// A job that cannot be planned within the available capacity; a request outside the scheme's promises
/// ([`crate::Scheme::promises`]), or one that it refuses.
pub fn plan(topology: &Topology, job: &Job, options: &Options<'_>) -> Result<Plan, PlanError> {
    plan_on(&with_shares(Model::new(topology, job, options.results), options)?, options)
}

/// Returns the model with the shares that its plans have to keep, if any.
pub(crate) fn with_shares<'a>(mut model: Model<'a>, options: &Options<'_>) -> Result<Model<'a>, PlanError> {
    let Some(running) = options.keeps_shares_of() else { return Ok(model) };
    let wrong = |what| PlanError::Shares { job: model.job.name.clone(), what };
    let of = |&server: &NodeIx| running.shards.iter().find(|shard| shard.server == model.name(server));
    let shares: Vec<f64> = model
        .servers
        .iter()
        .map(|server| {
            let share =
                of(server).map(|shard| shard.share).filter(|share| share.is_finite() && *share >= 0.0);
            share.ok_or_else(|| wrong(format!("it states none for server {}", model.name(*server))))
        })
        .collect::<Result<_, _>>()?;
    let is_known = |name: &str| model.servers.iter().any(|&server| model.name(server) == name);
    if let Some(other) = running.shards.iter().find(|shard| shard.share > 0.0 && !is_known(&shard.server)) {
        return Err(wrong(format!("server {} is not the job's any more", other.server)));
    }
    let sum: f64 = shares.iter().sum();
    if (sum - 1.0).abs() > 1e-6 {
        return Err(wrong(format!("they sum to {sum}")));
    }
    model.kept = Some(shares);
    Ok(model)
}

/// Plans the job of a model within its available capacities.
pub(crate) fn plan_on(model: &Model<'_>, options: &Options<'_>) -> Result<Plan, PlanError> {
    let (scheme, warm) = (options.scheme, options.running.map_or(0, |running| running.levels));
    let too_deep = options.levels.number() > scheme.promises().levels;
    if too_deep || warm >= 2 || options.levels == Levels::Two && warm >= 1 {
        return Err(PlanError::Levels { scheme: scheme.name() });
    }
    ask(model, options, |problem| scheme.plan(problem))
}

/// Plans one of several jobs: like [`plan_on`], but without steps that cannot be interrupted within its part
/// of a budget.
pub(crate) fn plan_in_time(model: &Model<'_>, options: &Options<'_>) -> Result<Plan, PlanError> {
    let hurried = (options.time_left)().is_finite() && (is_large(model) || options.out_of_time());
    if hurried && options.levels == Levels::One {
        return plan_quickly(model, options);
    }
    plan_on(model, options)
}

/// Plans a job that is planned many times next to others.
pub(crate) fn plan_quickly(model: &Model<'_>, options: &Options<'_>) -> Result<Plan, PlanError> {
    ask(model, options, |problem| options.scheme.plan_quickly(problem))
}

fn ask(
    model: &Model<'_>,
    options: &Options<'_>,
    plan: impl FnOnce(&Problem<'_>) -> Result<Plan, PlanError>,
) -> Result<Plan, PlanError> {
    let router = Router::new(model, options.paths);
    feasible(&router)?;
    plan(&Problem { router: &router, options })
}

/// Returns whether LPs of a job take long.
pub(crate) fn is_large(model: &Model<'_>) -> bool {
    model.workers.len() * model.servers.len() * model.aggregators.len() >= LARGE
}

/// Solves LP-InArt: the certified closed form where it applies, else the LP; `None` if the time did not
/// suffice.
pub(crate) fn relax(
    router: &Router<'_>,
    fixed: Option<&[f64]>,
    time_left: &dyn Fn() -> f64,
) -> Result<Option<Fractional>, PlanError> {
    let model = router.model;
    if let Some(solution) = fractional::certified(router, fixed) {
        return Ok(Some(solution));
    }
    lp::solve(router, fixed, time_left)
        .map_err(|reason| PlanError::Solver { job: model.job.name.clone(), reason })
}

/// Solves the relaxation for a scheme that does not depend on it: `None` also if the solver failed.
pub(crate) fn relax_if_possible(
    router: &Router<'_>,
    fixed: Option<&[f64]>,
    time_left: &dyn Fn() -> f64,
) -> Option<Fractional> {
    relax(router, fixed, time_left).ok().flatten()
}

/// Checks that every worker reaches every server, and every server can receive; if results count, that every
/// server reaches every worker.
pub(crate) fn feasible(router: &Router<'_>) -> Result<(), PlanError> {
    let model = router.model;
    let job = || model.job.name.clone();
    for &server in &model.servers {
        if model.intake_bps(server) <= 0.0 {
            let own = model.resource_name(model.own(server));
            let used_up = model.capacity_of(model.own(server)) <= 0.0;
            let resource = if used_up { own } else { format!("the links into {own}") };
            return Err(PlanError::Exhausted { job: job(), resource });
        }
        if let Some(&worker) = model.workers.iter().find(|&&worker| !router.reaches(worker, server, server)) {
            let (worker, server) = (model.name(worker).to_owned(), model.name(server).to_owned());
            return Err(PlanError::Unreachable { job: job(), worker, server });
        }
    }
    if model.results == Results::Counted {
        for (s, &server) in model.servers.iter().enumerate() {
            if let Some(worker) = router.trees.unreached(s) {
                let (worker, server) = (model.name(worker).to_owned(), model.name(server).to_owned());
                return Err(PlanError::NoWayBack { job: job(), server, worker });
            }
        }
    }
    Ok(())
}
