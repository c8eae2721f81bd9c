//! Plans one job next to others, within the capacity that these leave.

use super::set::Network;
use crate::model::Model;
use crate::options::Options;
use crate::plan::Plan;
use crate::plan_error::PlanError;
use crate::solve;

/// Share of a link or server that stays available although other jobs fill it, so that the shortest paths are
/// those of the whole network.
const KEPT: f64 = 1e-6;
/// Up to this number of flows times switches a job is planned as thoroughly as one alone, and sets are built
/// from the last job on too.
const SMALL: usize = 100;

/// Returns whether a job is planned with the full effort of a single job.
pub(super) fn is_small(model: &Model<'_>) -> bool {
    model.workers.len() * model.servers.len() * model.aggregators.len() <= SMALL
}

/// Plans a job within the capacity left by others, no faster than `ceiling_bps`.
pub(super) fn plan_next_to(
    network: &Network<'_>,
    options: &Options<'_>,
    job: usize,
    left: Vec<f64>,
    ceiling_bps: f64,
) -> Result<Plan, PlanError> {
    within(network, options, job, left, (ceiling_bps, false))
}

/// Plans a job within the capacity left by others; `quickly`: the first good plan is used.
pub(super) fn within(
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
