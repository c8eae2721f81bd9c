//! Several jobs on one network: planned together, or one after the other.
//!
//! Jobs share the switches' aggregation C(v), the servers' ingress B(s) and the links. A vector of rates is
//! better than another **in the max-min sense** if, both sorted in ascending order, it is larger at the first
//! index where they differ: the smallest rate counts first, then the next, and so on.
//!
//! Together, the jobs' plans are built one next to the other for rates that a joint relaxation allows
//! (`bound`). The rates and, where they are free, the shares are then max-min fair for the chosen paths
//! (`fair`, exact). Jobs are replanned next to the others as long as that is fairer (`together`).

mod again;
mod bound;
mod check;
mod fair;
mod improve;
mod in_turn;
mod join;
mod links;
mod next_to;
mod plans;
mod set;
mod together;
mod uses;

pub use again::{plan_again, sustainable_rates};
pub use check::check_jobs;
pub use join::plan_joining;
pub use plans::{JobPlans, Order};

use crate::options::Options;
use crate::plan::Plan;
use crate::plan_error::PlanError;
use crate::solve;
use inart_topologies::switched::{Job, Topology};
use set::Network;

/// Plans all jobs of a topology: a single one by [`crate::plan()`], several by [`plan_jobs`] in
/// [`Order::Together`].
///
/// # Errors
/// As those two.
pub fn plan_all(topology: &Topology, options: &Options<'_>) -> Result<Vec<Plan>, PlanError> {
    let jobs: Vec<&Job> = topology.jobs().iter().collect();
    match jobs[..] {
        [job] => solve::plan(topology, job, options).map(|plan| vec![plan]),
        _ => plan_jobs(topology, &jobs, options, Order::Together).map(|together| together.plans),
    }
}

/// Plans several jobs (at least one) that send at the same time. [`JobPlans::solve_ms`] stays 0: the caller
/// owns the clock.
///
/// - [`Order::Together`] seeks rates that are max-min fair. Each plan's `bounds.integral_bps` is its job's
///   bound alone on the network; `max_min_bound_bps` bounds all of them together.
/// - [`Order::InTurn`] plans each job with the earlier ones' use as background traffic, as the topology's
///   `background` would state it; the plan's bounds hold for the remaining capacity.
///
/// Every plan is valid on its own: it states the other jobs' use of its resources, and its `rate_bps` is the
/// job's rate while they have that use. All loads together exceed no capacity, except those that the scheme
/// ignores.
///
/// # Errors
///
/// The errors of [`crate::plan()`], for the first job with one; [`PlanError::TakenBefore`] in turn if earlier
/// jobs leave nothing; together [`PlanError::OneJob`] for schemes that only plan in turn and
/// [`PlanError::OneLevel`] for two levels; [`PlanError::OneRunning`] if there are several jobs and a running
/// plan.
///
/// # Panics
/// If `jobs` is empty.
pub fn plan_jobs(
    topology: &Topology,
    jobs: &[&Job],
    options: &Options<'_>,
    order: Order,
) -> Result<JobPlans, PlanError> {
    assert!(!jobs.is_empty(), "there is at least one job to plan");
    if options.running.is_some() && jobs.len() > 1 {
        return Err(PlanError::OneRunning);
    }
    let network = Network::new(topology, jobs, options);
    let (set, max_min_bound_bps) = match order {
        Order::InTurn => (in_turn::plan(&network, options.time_left)?, None),
        Order::Together => {
            let (set, bound) = together::plan(&network)?;
            (set, Some(bound))
        }
    };
    let plans = network.write(&set);
    Ok(JobPlans {
        topology: topology.name().to_owned(),
        order,
        min_rate_bps: set.rates.iter().copied().fold(f64::INFINITY, f64::min),
        plans,
        max_min_bound_bps,
        solve_ms: 0.0,
    })
}
