//! `optimized`, the default: constructions, roundings and local search until a proven bound is met or the
//! time is up; never worse than the best of R-InArt's roundings.

pub(crate) mod expectations;
pub(crate) mod groups;
pub(crate) mod starts;

use crate::bounds;
use crate::choices::Levels;
use crate::finish;
use crate::fractional;
use crate::integer;
use crate::levels;
use crate::model::Model;
use crate::options::{Options, Problem, Promises, Scheme, SeveralJobs, Shares};
use crate::phase1;
use crate::placement::{Placement, Rated};
use crate::plan::{Bounds, Plan};
use crate::plan_error::PlanError;
use crate::racks;
use crate::replan::{self, Running};
use crate::router::Router;
use crate::sharing;
use crate::solve::{is_large, relax_if_possible};
use crate::whole;
use starts::Best;

/// Part of a budget that is searched in before any LP.
const EARLY: f64 = 0.8;
/// Climbs at kept shares before the LP is solved for a bound.
const REROUTES: u64 = 3;
/// Share of a budget reserved for undoing unnecessary moves, at kept shares.
const UNDOING: f64 = 0.3;
/// Share of the remaining budget for a better bound.
const PROVING: f64 = 0.3;

/// The scheme of this project.
#[derive(Debug, Clone, Copy)]
pub struct Optimized;

impl Scheme for Optimized {
    fn name(&self) -> &'static str {
        "optimized"
    }

    fn summary(&self) -> &'static str {
        "ours: optimized shares and aggregating switches, with a proven optimality gap"
    }

    fn promises(&self) -> Promises {
        Promises {
            levels: 2,
            shares: Shares::Free,
            starts_from_running: true,
            several_jobs: SeveralJobs::Together,
            ..Promises::default()
        }
    }

    fn plan(&self, problem: &Problem<'_>) -> Result<Plan, PlanError> {
        let Problem { router, options } = *problem;
        let model = router.model;
        if let Some(running) = options.running {
            return again(router, options, running);
        }
        if let Some(plan) = at_the_closed_form(router, options) {
            return Ok(plan);
        }
        // With a time limit the rate has priority: LPs of link-bound networks can take the whole budget.
        let early = early(router, options);
        let mut bounds = problem.bounds();
        let best = ours(router, options, &mut bounds, early);
        let (placement, rated) = match options.levels {
            Levels::One => (best.placement, best.rated),
            Levels::Two => two_levels(router, options, best, &mut bounds),
        };
        let shares = placement.counts(model).leveled(model, &rated);
        Ok(finish::write(model, options, &placement, &shares, bounds))
    }

    /// Plans without any LP: constructions and a short search. Its bounds need no LP either.
    fn plan_quickly(&self, problem: &Problem<'_>) -> Result<Plan, PlanError> {
        let Problem { router, options } = *problem;
        let model = router.model;
        let integral_bps = bounds::closed_form(model, options.equal_shares).min(racks::egress(model));
        let parts: &[f64] = if options.out_of_time() { &[1.0] } else { &[1.0, 0.9, 0.75, 0.6] };
        let mut built = starts::constructed(router, options.equal_shares, integral_bps, parts);
        built.truncate(1);
        let best = starts::improve_in(1, router, options, built, integral_bps);
        Ok(write_best(model, options, &best, Bounds { lp_bps: None, integral_bps, two_levels_bps: None }))
    }
}

/// Plans large jobs for which one group construction meets the closed form of the bound: an LP would take
/// long and is not needed, so its optimum is stated only if even routing certifies it.
fn at_the_closed_form(router: &Router<'_>, options: &Options<'_>) -> Option<Plan> {
    let model = router.model;
    if options.levels != Levels::One || !is_large(model) {
        return None;
    }
    let mut integral_bps = bounds::closed_form(model, options.equal_shares);
    let mut built = starts::constructed(router, options.equal_shares, integral_bps, &[1.0]);
    if !starts::met(&built[0], integral_bps) {
        share(router, options, &mut built, &mut integral_bps);
    }
    let best = built.first().filter(|best| starts::met(best, integral_bps))?;
    let lp_bps = fractional::certified(router, None).map(|solution| solution.rate);
    Some(write_best(model, options, best, Bounds { lp_bps, integral_bps, two_levels_bps: None }))
}

/// Tightens the bound if switches are alike, with free shares, and puts placements that meet it before the
/// other `starts`. If links limit the rate none does, and the search does better from the others.
fn share(router: &Router<'_>, options: &Options<'_>, starts: &mut Vec<Best>, integral_bps: &mut f64) {
    if options.equal_shares {
        return;
    }
    let known = starts[0].rated.rate;
    let Some(found) = sharing::solve(router.model, known, *integral_bps, options.time_left) else { return };
    *integral_bps = integral_bps.min(found.bound_bps);
    let built = found.best.map(|grouping| starts::shared(router, &grouping));
    if let Some(built) = built.filter(|built| starts::met(built, *integral_bps)) {
        starts.insert(0, built);
    }
}

fn write_best(model: &Model<'_>, options: &Options<'_>, best: &Best, bounds: Bounds) -> Plan {
    let shares = best.placement.counts(model).leveled(model, &best.rated);
    finish::write(model, options, &best.placement, &shares, bounds)
}

/// Plans from a running plan. If that, repaired, meets the closed form of the integral bound, no LP is solved
/// (then `bounds.lp_bps` is absent); else the usual search starts from it too.
fn again(router: &Router<'_>, options: &Options<'_>, plan: &Plan) -> Result<Plan, PlanError> {
    let model = router.model;
    if !plan.other_jobs.is_empty() {
        return Err(PlanError::SharedWithOthers { job: model.job.name.clone() });
    }
    let running = Running::read(router, plan)?;
    let integral_bps = bounds::closed_form(model, options.equal_shares);
    let mut bounds = Bounds { lp_bps: None, integral_bps, two_levels_bps: None };
    let mut best = replan::start(router, options, &running, bounds.integral_bps);
    let mut searched = false;
    if model.kept.is_some() && !starts::met(&best, bounds.integral_bps) {
        best = rerouted(router, options, best, &mut bounds);
        let best = replan::stable(router, options, &running, best, (options.stable_loss, true));
        let moved = Some(running.moved(&best.placement));
        return Ok(Plan {
            moved,
            ..finish::write(model, options, &best.placement, &best.rated.shares, bounds)
        });
    }
    if !starts::met(&best, bounds.integral_bps) {
        bounds.lp_bps =
            relax_if_possible(router, None, options.time_left).map(|relaxation| relaxation.proven);
        bounds.integral_bps = bounds.integral_bps.min(bounds.lp_bps.unwrap_or(f64::INFINITY));
        if !starts::met(&best, bounds.integral_bps) {
            best = ours(router, options, &mut bounds, Some(best));
            searched = true;
        }
    }
    let best = replan::stable(router, options, &running, best, (options.stable_loss, searched));
    let shares = best.placement.counts(model).leveled(model, &best.rated);
    let moved = Some(running.moved(&best.placement));
    Ok(Plan { moved, ..finish::write(model, options, &best.placement, &shares, bounds) })
}

/// Finds other routes at the shares to be kept: constructions and climbs, and if those meet no bound, more of
/// them towards the LP's.
fn rerouted(router: &Router<'_>, options: &Options<'_>, known: Best, bounds: &mut Bounds) -> Best {
    // With a budget, a part of it is reserved for undoing unnecessary moves.
    let all = options;
    let kept = if (options.time_left)().is_finite() { UNDOING * (options.time_left)().max(0.0) } else { 0.0 };
    let time_left = || (all.time_left)() - kept;
    let options = &Options { time_left: &time_left, ..*all };
    let mut starts = starts::constructed(router, false, bounds.integral_bps, &[1.0, 0.9, 0.75, 0.6]);
    // Before equally good ones: nothing moves unnecessarily.
    let at = starts.partition_point(|start| start.rated.rate > known.rated.rate);
    starts.insert(at, known);
    let best = starts::improve_in(REROUTES, router, options, starts, bounds.integral_bps);
    if starts::met(&best, bounds.integral_bps) || options.out_of_time() {
        return best;
    }
    if let Some(relaxation) = relax_if_possible(router, router.model.kept.as_deref(), options.time_left) {
        bounds.integral_bps = bounds.integral_bps.min(relaxation.proven.max(best.rated.rate));
    }
    starts::improve(router, options, vec![best], bounds.integral_bps)
}

/// Uses constructions and roundings; if they do not meet the bound, the integer program where that is quick;
/// else a tighter bound, and local search.
pub(crate) fn ours(
    router: &Router<'_>,
    options: &Options<'_>,
    bounds: &mut Bounds,
    known: Option<Best>,
) -> Best {
    if let Some(known) =
        known.as_ref().filter(|known| starts::met(known, bounds.integral_bps) || options.out_of_time())
    {
        return known.clone();
    }
    let shares = phase1::shares(router.model, options.equal_shares);
    let fractional = relax_if_possible(router, Some(&shares), options.time_left);
    let mut starts = starts::starts(router, options, fractional.as_ref(), bounds.integral_bps);
    if let Some(known) = known {
        // Before equally good ones: nothing moves unnecessarily.
        let at = starts.partition_point(|start| start.rated.rate > known.rated.rate);
        starts.insert(at, known);
    }
    if integer::settle(router, options, &mut starts, bounds) {
        return starts.swap_remove(0);
    }
    if router.detours()
        && !starts::met(&starts[0], bounds.integral_bps)
        && let Some((best, _)) = integer::ask(router, options, &starts[0])
    {
        // The optimum over shortest paths does not bound the others.
        starts.insert(0, best);
    }
    share(router, options, &mut starts, &mut bounds.integral_bps);
    if starts::met(&starts[0], bounds.integral_bps) {
        return starts.swap_remove(0);
    }
    let (goal, left) = (starts[0].rated.rate, options.time_left);
    let (model, equal) = (router.model, options.equal_shares);
    bounds.integral_bps = racks::bound(model, equal, goal, bounds.integral_bps, left);
    // With a budget, a part of the rest.
    let kept = if left().is_finite() { (1.0 - PROVING) * left() } else { 0.0 };
    let proving = || left() - kept;
    bounds.integral_bps = whole::bound(model, router, equal, goal, bounds.integral_bps, &proving);
    starts::improve(router, options, starts, bounds.integral_bps)
}

/// Aggregates a second time where that helps, and states the bound for it.
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

/// Searches, with a budget, from its constructions alone first, in the first part of the time.
fn early(router: &Router<'_>, options: &Options<'_>) -> Option<Best> {
    let budget = (options.time_left)();
    if !budget.is_finite() {
        return None;
    }
    let time_left = || (options.time_left)() - (1.0 - EARLY) * budget.max(0.0);
    let options = Options { time_left: &time_left, ..*options };
    let bound = bounds::closed_form(router.model, options.equal_shares);
    let starts = starts::starts(router, &options, None, bound);
    // No more climbs than without a budget: the exact methods that follow may need only a moment.
    Some(starts::improve_in(starts::CLIMBS, router, &options, starts, bound.min(racks::egress(router.model))))
}
