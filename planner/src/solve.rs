//! Plans one job: the relaxation and its bound first, then the scheme, then (for `inart`) whatever proof is quick.

use crate::bounds;
use crate::finish;
use crate::fractional::{self, Fractional};
use crate::integer;
use crate::levels;
use crate::lp;
use crate::model::Model;
use crate::options::{Levels, Options, PlanError, Results, Scheme};
use crate::passes;
use crate::phase1;
use crate::placement::{Placement, Rated, equal_shares};
use crate::plan::{Bounds, Plan};
use crate::racks;
use crate::replan::{self, Running};
use crate::router::Router;
use crate::schemes::inart::{self, Best};
use crate::schemes::{baselines, rounding};
use crate::sharing;
use crate::topology::{Job, Topology};
use crate::whole;

/// Part of a budget that is searched in before any LP.
const EARLY: f64 = 0.8;
/// Flows times switches from which on a plan that meets the closed form is one without any LP.
const LARGE: usize = 100_000;
/// The part of what is left of a budget that goes into a better bound.
const PROVING: f64 = 0.3;

/// Plans one job on one network. [`Plan::solve_ms`] stays 0: the caller owns the clock.
pub fn plan(topology: &Topology, job: &Job, options: &Options<'_>) -> Result<Plan, PlanError> {
    plan_on(&Model::new(topology, job, options.results), options)
}

/// Plans the job of a model within what that leaves of every capacity.
pub(crate) fn plan_on(model: &Model<'_>, options: &Options<'_>) -> Result<Plan, PlanError> {
    let warm = |levels: u8| options.running.is_some_and(|running| running.levels >= levels);
    if warm(2) || options.levels == Levels::Two && (options.scheme != Scheme::Inart || warm(1)) {
        return Err(PlanError::Levels { scheme: options.scheme });
    }
    let router = Router::new(model, options.paths);
    feasible(&router)?;
    if let (Scheme::Inart, Some(running)) = (options.scheme, options.running) {
        return again(&router, options, running);
    }
    if let Some(plan) = at_the_closed_form(&router, options) {
        return Ok(plan);
    }
    // Against the clock the rate comes first: LPs of link-bound networks can take the whole budget.
    let early = early(&router, options);
    let lp_bps = relax(&router, None, options.time_left)?.map(|relaxation| relaxation.proven);
    let integral_bps = bounds::closed_form(model, options.equal_shares)
        .min(racks::egress(model))
        .min(lp_bps.unwrap_or(f64::INFINITY));
    let mut bounds = Bounds { lp_bps, integral_bps, two_levels_bps: None };
    let mut violation = None;
    let equal = equal_shares(model.servers.len());
    let (placement, shares) = match options.scheme {
        Scheme::Lbmm => (baselines::lbmm(&router), equal),
        Scheme::Atp => (clear(&router, baselines::atp(&router, false), &equal), equal),
        Scheme::AtpNocap => (clear(&router, baselines::atp(&router, true), &equal), equal),
        Scheme::RInart | Scheme::Even => {
            let shares = phase1_shares(model, options);
            let Some(fractional) = relax(&router, Some(&shares), &|| f64::INFINITY)? else {
                return Err(PlanError::Solver {
                    job: model.job.name.clone(),
                    reason: "iteration limit".to_owned(),
                });
            };
            let drawn = rounding::with_seed(&router, &fractional, options.seed);
            let placement = clear(&router, drawn, &shares);
            violation = Some(finish::violations(model, &placement, &shares, fractional.rate));
            (placement, shares)
        }
        Scheme::Inart => {
            let best = ours(&router, options, &mut bounds, early)?;
            let (placement, rated) = match options.levels {
                Levels::One => (best.placement, best.rated),
                Levels::Two => two_levels(&router, options, best, &mut bounds),
            };
            let shares = placement.counts(model).levelled(model, &rated);
            (placement, shares)
        }
        Scheme::Exact => {
            let best = integer::whole_program(&router, options, &mut bounds)?;
            (best.placement, best.rated.shares)
        }
    };
    Ok(Plan { violation, ..finish::write(model, options, &placement, &shares, bounds) })
}

/// A placement whose passes switches can tell apart.
fn clear(router: &Router<'_>, placement: Placement, shares: &[f64]) -> Placement {
    passes::untangled(router, &placement, shares).unwrap_or(placement)
}

fn is_large(model: &Model<'_>) -> bool {
    model.workers.len() * model.servers.len() * model.aggregators.len() >= LARGE
}

/// Plans one of several jobs: like [`plan_on`], but without what cannot be broken off in its part of a budget.
pub(crate) fn plan_in_time(model: &Model<'_>, options: &Options<'_>) -> Result<Plan, PlanError> {
    let hurried = (options.time_left)().is_finite() && (is_large(model) || options.out_of_time());
    if hurried && options.scheme == Scheme::Inart && options.levels == Levels::One {
        return quick(model, options);
    }
    plan_on(model, options)
}

/// The scheme inart for large jobs where one group construction meets the closed form of the bound: an LP would take long and
/// is not needed, so its optimum is stated only where an even routing certifies it.
fn at_the_closed_form(router: &Router<'_>, options: &Options<'_>) -> Option<Plan> {
    let model = router.model;
    if options.scheme != Scheme::Inart || options.levels != Levels::One || !is_large(model) {
        return None;
    }
    let mut integral_bps = bounds::closed_form(model, options.equal_shares);
    let mut built = inart::constructed(router, options.equal_shares, integral_bps, &[1.0]);
    if !inart::met(&built[0], integral_bps) {
        share(router, options, &mut built, &mut integral_bps);
    }
    let best = built.first().filter(|best| inart::met(best, integral_bps))?;
    let lp_bps = fractional::certified(router, None).map(|solution| solution.rate);
    Some(write_best(model, options, best, Bounds { lp_bps, integral_bps, two_levels_bps: None }))
}

/// Where switches are alike, with free shares: tightens the bound, and puts what meets it before the other `starts`. Where links are
/// in the way nothing does, and the search does better from the others.
fn share(router: &Router<'_>, options: &Options<'_>, starts: &mut Vec<Best>, integral_bps: &mut f64) {
    if options.equal_shares {
        return;
    }
    let known = starts[0].rated.rate;
    let Some(found) = sharing::solve(router.model, known, *integral_bps, options.time_left) else { return };
    *integral_bps = integral_bps.min(found.bound_bps);
    let built = found.best.map(|grouping| inart::shared(router, &grouping));
    if let Some(built) = built.filter(|built| inart::met(built, *integral_bps)) {
        starts.insert(0, built);
    }
}

/// The scheme inart without any LP: constructions and a short search, for a job that is planned many times beside others.
/// Its bounds are those that need no LP either.
pub(crate) fn quick(model: &Model<'_>, options: &Options<'_>) -> Result<Plan, PlanError> {
    let router = Router::new(model, options.paths);
    feasible(&router)?;
    let integral_bps = bounds::closed_form(model, options.equal_shares).min(racks::egress(model));
    let parts: &[f64] = if options.out_of_time() { &[1.0] } else { &[1.0, 0.9, 0.75, 0.6] };
    let mut starts = inart::constructed(&router, options.equal_shares, integral_bps, parts);
    starts.truncate(1);
    let best = inart::improve_in(1, &router, options, starts, integral_bps);
    Ok(write_best(model, options, &best, Bounds { lp_bps: None, integral_bps, two_levels_bps: None }))
}

fn write_best(model: &Model<'_>, options: &Options<'_>, best: &Best, bounds: Bounds) -> Plan {
    let shares = best.placement.counts(model).levelled(model, &best.rated);
    finish::write(model, options, &best.placement, &shares, bounds)
}

/// The scheme inart from a running plan. Where that, mended, meets the closed form of the integral bound, no LP is solved
/// (then `bounds.lp_bps` is absent); else the usual search starts from it too.
fn again(router: &Router<'_>, options: &Options<'_>, plan: &Plan) -> Result<Plan, PlanError> {
    let model = router.model;
    if !plan.other_jobs.is_empty() {
        return Err(PlanError::Beside { job: model.job.name.clone() });
    }
    let running = Running::read(router, plan)?;
    let integral_bps = bounds::closed_form(model, options.equal_shares);
    let mut bounds = Bounds { lp_bps: None, integral_bps, two_levels_bps: None };
    let mut best = replan::start(router, options, &running, bounds.integral_bps);
    let mut searched = false;
    if !inart::met(&best, bounds.integral_bps) {
        bounds.lp_bps = relax(router, None, options.time_left)?.map(|relaxation| relaxation.proven);
        bounds.integral_bps = bounds.integral_bps.min(bounds.lp_bps.unwrap_or(f64::INFINITY));
        if !inart::met(&best, bounds.integral_bps) {
            best = ours(router, options, &mut bounds, Some(best))?;
            searched = true;
        }
    }
    let best = replan::stable(router, options, &running, best, (options.stable_loss, searched));
    let shares = best.placement.counts(model).levelled(model, &best.rated);
    let moved = Some(running.moved(&best.placement));
    Ok(Plan { moved, ..finish::write(model, options, &best.placement, &shares, bounds) })
}

/// The scheme inart: constructions and roundings; if they do not meet the bound, the integer program where that is quick;
/// else a tighter bound, and local search.
pub(crate) fn ours(
    router: &Router<'_>,
    options: &Options<'_>,
    bounds: &mut Bounds,
    known: Option<Best>,
) -> Result<Best, PlanError> {
    if let Some(known) =
        known.as_ref().filter(|known| inart::met(known, bounds.integral_bps) || options.out_of_time())
    {
        return Ok(known.clone());
    }
    let fractional = relax(router, Some(&phase1_shares(router.model, options)), options.time_left)?;
    let mut starts = inart::starts(router, options, fractional.as_ref(), bounds.integral_bps);
    if let Some(known) = known {
        // Before those as good as it: nothing moves without need.
        let at = starts.partition_point(|start| start.rated.rate > known.rated.rate);
        starts.insert(at, known);
    }
    if integer::settle(router, options, &mut starts, bounds) {
        return Ok(starts.swap_remove(0));
    }
    if router.detours()
        && !inart::met(&starts[0], bounds.integral_bps)
        && let Some((best, _)) = integer::ask(router, options, &starts[0])
    {
        // The best over shortest paths is no bound on the others.
        starts.insert(0, best);
    }
    share(router, options, &mut starts, &mut bounds.integral_bps);
    if inart::met(&starts[0], bounds.integral_bps) {
        return Ok(starts.swap_remove(0));
    }
    let (goal, left) = (starts[0].rated.rate, options.time_left);
    let (model, equal) = (router.model, options.equal_shares);
    bounds.integral_bps = racks::bound(model, equal, goal, bounds.integral_bps, left);
    // With a budget, a part of what is left of it.
    let kept = if left().is_finite() { (1.0 - PROVING) * left() } else { 0.0 };
    let proving = || left() - kept;
    bounds.integral_bps = whole::bound(model, router, equal, goal, bounds.integral_bps, &proving);
    Ok(inart::improve(router, options, starts, bounds.integral_bps))
}

/// Adds up a second time what that helps, and states the bound for it.
fn two_levels(
    router: &Router<'_>,
    options: &Options<'_>,
    best: Best,
    bounds: &mut Bounds,
) -> (Placement, Rated) {
    let (model, equal) = (router.model, options.equal_shares);
    let bound = levels::bound(model, equal);
    let bound = racks::two_levels(model, equal, best.rated.rate, bound, options.time_left);
    // Plans of one level are among those of two.
    bounds.integral_bps = bounds.integral_bps.min(bound);
    bounds.two_levels_bps = Some(bound);
    levels::improve(router, options, (best.placement, best.rated), bound)
}

/// With a budget, the scheme inart first searches from its constructions alone, in the first part of the time.
fn early(router: &Router<'_>, options: &Options<'_>) -> Option<Best> {
    let budget = (options.time_left)();
    if options.scheme != Scheme::Inart || !budget.is_finite() {
        return None;
    }
    let time_left = || (options.time_left)() - (1.0 - EARLY) * budget.max(0.0);
    let options = Options { time_left: &time_left, ..*options };
    let bound = bounds::closed_form(router.model, options.equal_shares);
    let starts = inart::starts(router, &options, None, bound);
    Some(inart::improve(router, &options, starts, bound.min(racks::egress(router.model))))
}

/// x of phase 1, which R-InArt keeps fixed.
fn phase1_shares(model: &Model<'_>, options: &Options<'_>) -> Vec<f64> {
    if options.equal_shares || options.scheme == Scheme::Even {
        return equal_shares(model.servers.len());
    }
    let split = phase1::split(model, None);
    split.sending.iter().map(|f| f / split.rate).collect()
}

/// LP-InArt: the certified closed form where it applies, else the LP; `None` if the time did not suffice.
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

/// Every worker reaches every server, and every server can take something in; where results count, every server reaches every
/// worker.
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
