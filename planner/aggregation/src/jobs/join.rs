//! Jobs that join running ones. Running jobs keep their routes and shares, and reduce their rates for
//! fairness.

use super::fair::is_fairer;
use super::next_to::plan_next_to;
use super::set::{Network, Set, part_of_time};
use crate::choices::Levels;
use crate::model::Model;
use crate::options::Options;
use crate::plan::Plan;
use crate::plan_error::PlanError;
use crate::solve;
use inart_topologies::switched::{Job, NodeKind, Topology};

/// Shares of the running jobs' rates that a joining job is planned next to, in addition to none.
const PARTS: [f64; 5] = [1.0, 0.9, 0.75, 0.5, 0.25];

/// Plans jobs that join running ones. Returns the plans of the running jobs, in their order, then one per
/// joining job. A running job keeps its routes and its shares; its rate and its loads change. All rates are
/// max-min fair for the routes and shares: each job sends as fast as it can without slowing one that is no
/// faster.
///
/// Without joining jobs, redistributes the capacity after a job has ended.
///
/// # Errors
///
/// [`PlanError::Foreign`] for a running plan that is not of a job on this network, and the errors of
/// [`crate::plan()`] for a joining job; [`PlanError::OneLevel`] for two levels.
pub fn plan_joining(
    topology: &Topology,
    running: &[Plan],
    joining: &[&Job],
    options: &Options<'_>,
) -> Result<Vec<Plan>, PlanError> {
    if options.levels == Levels::Two {
        return Err(PlanError::OneLevel);
    }
    let mut jobs = Vec::new();
    for plan in running {
        jobs.push(job_of(topology, plan)?);
    }
    jobs.extend(joining);
    let network = Network::new(topology, &jobs, options);
    let laid = running.iter().map(|plan| network.laid(unstated(plan))).collect();
    let mut set = network.at_own_shares(laid);
    for (job, waiting) in (running.len()..jobs.len()).zip((1..=joining.len()).rev()) {
        let time_left = part_of_time(options.time_left, waiting);
        let options = Options { time_left: &time_left, ..*options };
        set = join(&network, &options, set, job)?;
    }
    Ok(network.write(&set))
}

/// Returns the fairest of the sets in which a job has joined, planned next to the others at parts of their
/// rates, or alone.
fn join(network: &Network<'_>, options: &Options<'_>, set: Set, job: usize) -> Result<Set, PlanError> {
    let model = Model::new(network.topology, network.jobs[job], options.results);
    let alone =
        solve::plan_in_time(&model, &Options { time_left: &part_of_time(options.time_left, 2), ..*options })?;
    let bounds = alone.bounds.clone();
    let with = |plan: Plan| -> Set {
        let laid = network.laid(Plan { bounds: bounds.clone(), ..plan });
        network.at_own_shares(set.laid.iter().cloned().chain([laid]).collect())
    };
    let mut best = with(alone);
    for part in PARTS {
        if options.out_of_time() {
            break;
        }
        let rates: Vec<f64> = set.rates.iter().map(|rate| rate * part).collect();
        let left = network.left_for(usize::MAX, &set, &rates);
        // If the others leave no capacity to plan in, the next share does.
        let Ok(plan) = plan_next_to(network, options, job, left, f64::INFINITY) else { continue };
        let other = with(plan);
        if is_fairer(&other.rates, &best.rates) {
            best = other;
        }
    }
    Ok(best)
}

/// Removes the plan's statements on other jobs: they have changed.
fn unstated(plan: &Plan) -> Plan {
    Plan { other_jobs: Vec::new(), ..plan.clone() }
}

/// Returns the job of a plan, all of whose paths exist on this network.
fn job_of<'t>(topology: &'t Topology, plan: &Plan) -> Result<&'t Job, PlanError> {
    let foreign = |what: String| PlanError::Foreign { job: plan.job.clone(), what };
    if plan.topology != topology.name() {
        return Err(foreign(format!("topology \"{}\", not \"{}\"", plan.topology, topology.name())));
    }
    let job = topology.job_named(&plan.job);
    let job = job.ok_or_else(|| foreign(format!("job \"{}\", which the topology has not", plan.job)))?;
    let trunks = plan.trunks.iter().map(|trunk| &trunk.path);
    let links = plan.results.iter().flat_map(|tree| &tree.links).map(|ends| &ends[..]);
    let paths = plan.flows.iter().map(|flow| &flow.path).chain(trunks).map(|path| &path[..]);
    for [a, b] in paths.chain(links).flat_map(|path| path.windows(2)).filter_map(|hop| hop.as_array()) {
        let ends = topology.node_named(a).zip(topology.node_named(b));
        if ends.and_then(|(a, b)| topology.link_between(a, b)).is_none() {
            return Err(foreign(format!("a network with a link between {a} and {b}")));
        }
    }
    let is_shard = |server: &String| plan.shards.iter().any(|shard| shard.server == *server);
    let servers =
        plan.flows.iter().map(|flow| &flow.server).chain(plan.trunks.iter().map(|trunk| &trunk.server));
    let unknown =
        servers.chain(plan.results.iter().map(|tree| &tree.server)).find(|server| !is_shard(server));
    if let Some(server) = unknown {
        return Err(foreign(format!("server {server}, of which it has no share")));
    }
    let is_server = |name: &String| {
        topology.node_named(name).is_some_and(|node| topology.node(node).kind == NodeKind::Server)
    };
    match plan.shards.iter().find(|shard| !is_server(&shard.server)) {
        Some(shard) => Err(foreign(format!("server {}, which the topology has not", shard.server))),
        None => Ok(job),
    }
}
