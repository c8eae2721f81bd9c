//! One job after the other: traffic of earlier jobs is background traffic.

use super::set::{Network, Set, part_of_time, snapped};
use super::uses::per_bit;
use crate::model::Model;
use crate::options::Options;
use crate::plan_error::PlanError;
use crate::router::Router;
use crate::solve;
use inart_topologies::switched::Job;

/// Plans the jobs in their order, within `time_left` (seconds).
pub(super) fn plan(network: &Network<'_>, time_left: &dyn Fn() -> f64) -> Result<Set, PlanError> {
    let mut left = network.capacity.clone();
    let mut set = Set { laid: Vec::new(), shares: Vec::new(), rates: Vec::new() };
    for (job, waiting) in network.jobs.iter().zip((1..=network.jobs.len()).rev()) {
        let model =
            Model::within(network.topology, job, network.options.results, left.clone(), f64::INFINITY);
        let time_left = part_of_time(time_left, waiting);
        let options = Options { time_left: &time_left, ..*network.options };
        let plan = solve::plan_in_time(&model, &options).map_err(|error| after(network, job, error))?;
        let shares: Vec<f64> = plan.shards.iter().map(|shard| shard.share).collect();
        let rate = plan.rate_bps;
        let laid = network.laid(plan);
        for (resource, use_) in per_bit(&laid.units, &shares) {
            let r = resource as usize;
            if network.limits[r].is_finite() {
                left[r] = snapped(left[r] - use_ * rate, network.capacity[r]);
            }
        }
        set.laid.push(laid);
        set.shares.push(shares);
        set.rates.push(rate);
    }
    Ok(set)
}

/// Names the jobs before as the reason where there would be a plan without them.
fn after(network: &Network<'_>, job: &Job, error: PlanError) -> PlanError {
    let alone = Model::new(network.topology, job, network.options.results);
    let left_out = match &error {
        PlanError::Exhausted { resource, .. } => format!("nothing of {resource}"),
        PlanError::Unreachable { worker, server, .. } => {
            format!("worker {worker} no route to server {server}")
        }
        PlanError::NoWayBack { server, worker, .. } => {
            format!("results of server {server} no way back to worker {worker}")
        }
        _ => return error,
    };
    match solve::feasible(&Router::new(&alone, network.options.paths)) {
        Ok(()) => PlanError::TakenBefore { job: job.name.clone(), left_out },
        Err(error) => error,
    }
}
