//! All jobs at once: plans that stand side by side, then moved out of each other's way as long as that is
//! fairer.

use std::rc::Rc;

use super::fair::is_fairer;
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
/// By how much a job's rate is to rise when others are moved out of its way.
const STEPS: [f64; 3] = [0.3, 0.1, 0.03];
/// A link or server full of other jobs' traffic keeps this part, so that the shortest paths are those of the
/// whole network.
const KEPT: f64 = 1e-6;
/// Plans made per job at most while improving.
const MOVES: usize = 60;
/// Up to so many flows times switches a job is planned with all that a job alone gets, and sets are built
/// from the last job on too.
const SMALL: usize = 100;

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
        let set = build(network, &order, &most, &part_of_time(options.time_left, 4))?;
        if reaches(&set, &most) {
            let bounds =
                most.iter().map(|&integral_bps| Bounds { lp_bps: None, integral_bps, two_levels_bps: None });
            return Ok((bounded(network, set, bounds), most));
        }
        built = Some(set);
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
        best = construct(network, &models, best, &fair)?;
        best = improve(network, best, &fair);
    }
    Ok((bounded(network, best, bounds), fair))
}

/// Plans one job after the other at parts of the fair rates, until a set reaches these; the fairest set,
/// which may be `best`.
pub(super) fn construct(
    network: &Network<'_>,
    models: &[Model<'_>],
    mut best: Set,
    fair: &[f64],
) -> Result<Set, PlanError> {
    let options = network.options;
    for part in PARTS {
        if reaches(&best, fair) || options.out_of_time() {
            break;
        }
        let targets: Vec<f64> = fair.iter().map(|rate| rate * part).collect();
        let first_to_last: Vec<usize> = (0..models.len()).collect();
        best = fairest(best, build(network, &first_to_last, &targets, &part_of_time(options.time_left, 4))?);
        if models.iter().all(is_small) && !reaches(&best, fair) {
            let last_to_first: Vec<usize> = first_to_last.into_iter().rev().collect();
            let time_left = part_of_time(options.time_left, 4);
            best = fairest(best, build(network, &last_to_first, &targets, &time_left)?);
        }
    }
    Ok(best)
}

/// The fairer of two sets.
pub(super) fn fairest(best: Set, other: Set) -> Set {
    if is_fairer(&other.rates, &best.rates) { other } else { best }
}

/// Whether no path is a detour around links that other jobs fill: bounds hold for shortest paths of the whole
/// network.
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

fn is_small(model: &Model<'_>) -> bool {
    model.workers.len() * model.servers.len() * model.aggregators.len() <= SMALL
}

/// Plans one job after the other in this order, none faster than its target, beside those before it at
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
        // Plans again come from sets that are improved one by one, with all effort.
        let plan = within(network, &options, job, left, (targets[job], network.running.is_some()))?;
        set.rates.push(plan.rate_bps.min(targets[job]));
        set.shares.push(plan.shards.iter().map(|shard| shard.share).collect());
        set.laid.push(network.laid(plan));
    }
    let mut by_job: Vec<(usize, Rc<Laid>)> = order.iter().copied().zip(set.laid).collect();
    by_job.sort_by_key(|&(job, _)| job);
    Ok(network.side_by_side(by_job.into_iter().map(|(_, laid)| laid).collect(), targets))
}

/// Plans a job within what others leave, no faster than `ceiling_bps`.
pub(super) fn beside(
    network: &Network<'_>,
    options: &Options<'_>,
    job: usize,
    left: Vec<f64>,
    ceiling_bps: f64,
) -> Result<Plan, PlanError> {
    within(network, options, job, left, (ceiling_bps, false))
}

/// The same; `quickly`: the first good plan will do.
fn within(
    network: &Network<'_>,
    options: &Options<'_>,
    job: usize,
    mut left: Vec<f64>,
    (ceiling_bps, quickly): (f64, bool),
) -> Result<Plan, PlanError> {
    let topology = network.topology;
    let arcs = 2 * topology.links().len();
    let servers = network.jobs[job].servers.iter().map(|server| arcs + server.index());
    for resource in (0..arcs).chain(servers) {
        left[resource] = left[resource].max(KEPT * network.capacity[resource]);
    }
    let running = network.running.map(|plans| &plans[job]);
    let options = Options { running: running.or(options.running), ..*options };
    let model = Model::within(topology, network.jobs[job], options.results, left, ceiling_bps);
    let model = solve::with_shares(model, &options)?;
    if !quickly && (running.is_some() || is_small(&model)) {
        solve::plan_in_time(&model, &options)
    } else {
        solve::plan_quickly(&model, &options)
    }
}

/// Lets the slowest job (of those below their fair rate) rise: it is planned anew beside the others at their
/// rates, then those that fill what it uses are, one after the other, beside it at its next rate; once as
/// fast as they are, then no faster than it. Ends when no job can rise so.
pub(super) fn improve(network: &Network<'_>, mut best: Set, fair: &[f64]) -> Set {
    let mut moves = MOVES * best.laid.len();
    'rising: loop {
        let mut order: Vec<usize> = (0..fair.len()).collect();
        order.retain(|&job| best.rates[job] < fair[job] * (1.0 - 1e-6));
        order.sort_by(|&a, &b| best.rates[a].total_cmp(&best.rates[b]));
        for &slow in &order {
            let rivals = rivals(network, &best, slow);
            for (step, yielding) in STEPS.into_iter().flat_map(|step| [(step, false), (step, true)]) {
                let mut rates = best.rates.clone();
                rates[slow] = (rates[slow] * (1.0 + step)).min(fair[slow]);
                let next = rates[slow];
                let faster = || rivals.iter().copied().filter(|&job| best.rates[job] > next * (1.0 + 1e-6));
                if yielding {
                    if faster().next().is_none() {
                        continue;
                    }
                    faster().for_each(|job| rates[job] = next);
                }
                if let Some(risen) = raise(network, &best, (slow, &rivals), &rates, fair, &mut moves) {
                    best = risen;
                    continue 'rising;
                }
                if moves == 0 || network.options.out_of_time() {
                    return best;
                }
            }
        }
        return best;
    }
}

/// Plans a job, then each of its rivals, anew beside the others at these rates; the first set that is fairer
/// than `best`.
fn raise(
    network: &Network<'_>,
    best: &Set,
    (slow, rivals): (usize, &[usize]),
    rates: &[f64],
    fair: &[f64],
    moves: &mut usize,
) -> Option<Set> {
    let mut trial = best.clone();
    for job in std::iter::once(slow).chain(rivals.iter().copied()) {
        if *moves == 0 || network.options.out_of_time() {
            return None;
        }
        *moves -= 1;
        let left = network.left_for(job, &trial, rates);
        let Ok(plan) = beside(network, network.options, job, left, rates[job]) else { continue };
        trial.shares[job] = plan.shards.iter().map(|shard| shard.share).collect();
        trial.laid[job] = network.laid(plan);
        let risen = network.side_by_side(trial.laid.clone(), fair);
        if is_fairer(&risen.rates, &best.rates) {
            return Some(risen);
        }
    }
    None
}

/// The other jobs that use what is full where a job is, those that use most of it first.
fn rivals(network: &Network<'_>, set: &Set, job: usize) -> Vec<usize> {
    let left = network.left_for(usize::MAX, set, &set.rates);
    let full = |resource: &u32| {
        let r = *resource as usize;
        left[r] <= 1e-6 * network.capacity[r]
    };
    let tight: Vec<u32> = set.laid[job].units.keys().copied().filter(full).collect();
    let part = |other: usize| -> f64 {
        let units = &set.laid[other].units;
        let use_ = |r: &u32| {
            let used = crate::placement::weighted(units.get(r)?, &set.shares[other]) * set.rates[other];
            Some(used / network.capacity[*r as usize])
        };
        tight.iter().filter_map(use_).sum()
    };
    let mut rivals: Vec<(f64, usize)> =
        (0..set.laid.len()).filter(|&other| other != job).map(|other| (part(other), other)).collect();
    rivals.retain(|&(part, _)| part > 0.0);
    rivals.sort_by(|a, b| b.0.total_cmp(&a.0));
    rivals.into_iter().map(|(_, other)| other).collect()
}
