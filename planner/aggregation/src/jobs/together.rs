//! Joint planning: plans next to each other, then improved as long as the set gets fairer.

use std::rc::Rc;

use super::fair::is_fairer;
use super::improve::improve;
use super::next_to::{is_small, within};
use super::set::{Laid, Network, Set, part_of_time};
use super::{bound, in_turn};
use crate::bounds::closed_form;
use crate::choices::{Levels, Paths};
use crate::model::Model;
use crate::options::{Options, SeveralJobs};
use crate::plan::{Bounds, Plan};
use crate::plan_error::PlanError;
use crate::racks;
use crate::routes::{Routes, Rule};
use crate::solve;

/// Parts of the fair rates that construction aims at, until one set of plans reaches them.
const PARTS: [f64; 6] = [1.0, 0.95, 0.9, 0.8, 0.7, 0.6];
/// The plans, with each job's bounds in them, and rates that no plans are fairer than.
pub(super) fn plan(network: &Network<'_>) -> Result<(Set, Vec<f64>), PlanError> {
    let Network { topology, jobs, options, .. } = *network;
    let several_jobs = options.scheme.promises().several_jobs;
    let moves = several_jobs == SeveralJobs::Together;
    if several_jobs == SeveralJobs::InTurn {
        return Err(PlanError::OneJob { scheme: options.scheme.name() });
    }
    if options.levels == Levels::Two {
        return Err(PlanError::OneLevel);
    }
    let models: Vec<Model<'_>> = jobs.iter().map(|job| Model::new(topology, job, options.results)).collect();
    let most = models.iter().map(|model| closed_form(model, options.equal_shares).min(racks::egress(model)));
    let most: Vec<f64> = most.collect();
    let mut built = None;
    if moves {
        let order: Vec<usize> = (0..jobs.len()).collect();
        // If a set has no plan, the jobs alone give the reason.
        built = build(network, &order, &most, &part_of_time(options.time_left, 4)).ok();
        if let Some(set) = built.take_if(|set| reaches(set, &most)) {
            let bounds =
                most.iter().map(|&integral_bps| Bounds { lp_bps: None, integral_bps, two_levels_bps: None });
            return Ok((bounded(network, set, bounds), most));
        }
    }
    // A quarter of the time each: this, the jobs alone and their bounds, one after the other, all of them.
    let quarter = part_of_time(options.time_left, 3);
    let mut alone: Vec<Plan> = Vec::new();
    for (model, waiting) in models.iter().zip((1..=jobs.len()).rev()) {
        let time_left = part_of_time(&quarter, waiting);
        let options = Options { time_left: &time_left, ..*options };
        alone.push(solve::plan_in_time(model, &options)?);
    }
    let bounds: Vec<Bounds> = alone.iter().map(|plan| plan.bounds.clone()).collect();
    let most: Vec<f64> = bounds.iter().map(|bounds| bounds.integral_bps).collect();
    let fair = bound::max_min(&models, &most, options);
    let laid = alone.into_iter().map(|plan| network.laid(plan)).collect();
    let mut best = network.side_by_side(laid, &fair);
    best = built.into_iter().fold(best, fairest);
    if !options.out_of_time()
        && let Ok(set) = in_turn::plan(network, &part_of_time(options.time_left, 2))
        && (options.paths == Paths::Any || takes_shortest_paths(&models[0], &set))
    {
        let better = network.side_by_side(set.laid.clone(), &fair);
        best = fairest(fairest(best, set), better);
    }
    if moves {
        best = construct(network, &models, best, &fair);
        best = improve(network, best, &fair);
    }
    Ok((bounded(network, best, bounds), fair))
}

/// Plans one job after the other at parts of the fair rates, until a set reaches these. Returns the fairest
/// set, which may be `best`. Failed constructions are left out.
pub(super) fn construct(network: &Network<'_>, models: &[Model<'_>], mut best: Set, fair: &[f64]) -> Set {
    let options = network.options;
    for part in PARTS {
        if reaches(&best, fair) || options.out_of_time() {
            break;
        }
        let targets: Vec<f64> = fair.iter().map(|rate| rate * part).collect();
        let first_to_last: Vec<usize> = (0..models.len()).collect();
        let time_left = part_of_time(options.time_left, 4);
        best = build(network, &first_to_last, &targets, &time_left).into_iter().fold(best, fairest);
        if models.iter().all(is_small) && !reaches(&best, fair) {
            let last_to_first: Vec<usize> = first_to_last.into_iter().rev().collect();
            let time_left = part_of_time(options.time_left, 4);
            best = build(network, &last_to_first, &targets, &time_left).into_iter().fold(best, fairest);
        }
    }
    best
}

/// The fairer of two sets.
pub(super) fn fairest(best: Set, other: Set) -> Set {
    if is_fairer(&other.rates, &best.rates) { other } else { best }
}

/// Returns whether no path is a detour around links that other jobs fill: bounds hold for shortest paths of
/// the whole network.
fn takes_shortest_paths(model: &Model<'_>, set: &Set) -> bool {
    let routes = Routes::new(model, Rule::Built);
    let node = |name: &String| model.topology.node_named(name).map(|id| id.0);
    let is_shortest = |path: &Vec<String>| {
        let ends = path.first().and_then(node).zip(path.last().and_then(node));
        ends.is_some_and(|(from, to)| path.len() == usize::from(routes.hops(from, to)) + 1)
    };
    set.laid.iter().all(|laid| {
        let flows = laid.plan.flows.iter().map(|flow| &flow.path);
        flows.chain(laid.plan.trunks.iter().map(|trunk| &trunk.path)).all(is_shortest)
    })
}

pub(super) fn reaches(set: &Set, rates: &[f64]) -> bool {
    set.rates.iter().zip(rates).all(|(rate, most)| *rate >= most * (1.0 - 1e-9))
}

/// The plans with these bounds in them.
pub(super) fn bounded(network: &Network<'_>, set: Set, bounds: impl IntoIterator<Item = Bounds>) -> Set {
    let with = |(laid, bounds): (&Rc<Laid>, Bounds)| network.laid(Plan { bounds, ..laid.plan.clone() });
    Set { laid: set.laid.iter().zip(bounds).map(with).collect(), ..set }
}

/// Plans one job after the other in this order, none faster than its target, next to those before it at
/// theirs, within `time_left` (seconds).
fn build(
    network: &Network<'_>,
    order: &[usize],
    targets: &[f64],
    time_left: &dyn Fn() -> f64,
) -> Result<Set, PlanError> {
    let mut set = Set { laid: Vec::new(), shares: Vec::new(), rates: Vec::new() };
    for (before, &job) in order.iter().enumerate() {
        let time_left = part_of_time(time_left, order.len() - before);
        let options = Options { time_left: &time_left, ..*network.options };
        let left = network.left_for(usize::MAX, &set, &set.rates);
        // Replanned sets are improved one by one, with full effort.
        let plan = within(network, &options, job, left, (targets[job], network.running.is_some()))?;
        set.rates.push(plan.rate_bps.min(targets[job]));
        set.shares.push(plan.shards.iter().map(|shard| shard.share).collect());
        set.laid.push(network.laid(plan));
    }
    let mut by_job: Vec<(usize, Rc<Laid>)> = order.iter().copied().zip(set.laid).collect();
    by_job.sort_by_key(|&(job, _)| job);
    Ok(network.side_by_side(by_job.into_iter().map(|(_, laid)| laid).collect(), targets))
}
