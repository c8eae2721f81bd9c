//! The next run of an elastic job: its plan, for other hosts maybe, in place of the one before. No host uses
//! that any more. Pure.

use inart_planner_aggregation::{Occupied as _, Options, Plan, Results, plan, plan_joining, schemes};
use inart_protocol_aggregation::Assignment;
use inart_topologies::switched::{Job, Topology};
use inart_wire::{Incarnation, JobId};

use crate::assignment::JobPlan;
use crate::fabric::{Fabric, Numbers};
use crate::intent::{self, Network};
use crate::live::LiveChangeError;
use crate::membership::Formation;
use crate::records::{JobRecord, Push};

/// A run is planned together with other jobs if these leave it less than this part of its rate so far, such
/// as what rounding leaves.
const LEAST: f64 = 0.05;

/// Where the next run of a job leads.
#[derive(Debug, Clone, PartialEq)]
pub struct NextView {
    /// The push that is to be in force.
    pub to: Push,
    /// What its hosts are told.
    pub assignment: Assignment,
    /// What the switches hold then.
    pub desired: Network,
}

/// Computes where the next run of a job leads that nobody runs now. `current` is what the switches hold,
/// `record` what is known of the job. Window and rate scale stay. All its older plan versions go.
///
/// # Errors
/// Why there is no such run.
pub fn next_view(
    fabric: &Fabric,
    current: &Network,
    record: &JobRecord,
    job: JobId,
    plan: Plan,
) -> Result<NextView, LiveChangeError> {
    let live = record.live().ok_or_else(|| LiveChangeError::NotInForce { job: plan.job.clone() })?;
    let (window_chunks, rate_scale) = (live.window_chunks, live.rate_scale);
    let job = JobPlan { job, plan, window_chunks, rate_scale, new_plan_version: true };
    let mut assignment = fabric.assignment(&job)?;
    let mut wanted = fabric.wanted(&job, Some(record), Numbers::Taken)?;
    wanted.known.stale.extend(wanted.known.live.into_iter().chain(wanted.known.open));
    let intent = intent::beside(fabric.limits, current, &wanted)?;
    assignment.plan_version = intent.plan_versions[&job.job];
    Ok(NextView { to: fabric.push(&job, assignment.plan_version), assignment, desired: intent.desired })
}

/// Computes where the first run of a job leads that no host runs, beside those that do. `record` is what is
/// known of a job of that number before. All its older plan versions go.
///
/// # Errors
/// Why it cannot be installed.
pub fn first_view(
    fabric: &Fabric,
    current: &Network,
    record: &JobRecord,
    job: &JobPlan,
) -> Result<NextView, LiveChangeError> {
    let mut assignment = fabric.assignment(job)?;
    let mut wanted = fabric.wanted(job, Some(record), Numbers::Taken)?;
    wanted.known.stale.extend(wanted.known.live);
    let intent = intent::beside(fabric.limits, current, &wanted)?;
    assignment.plan_version = intent.plan_versions[&job.job];
    Ok(NextView { to: fabric.push(job, assignment.plan_version), assignment, desired: intent.desired })
}

/// Whether a plan is for exactly these hosts.
pub fn is_for(plan: &Plan, formation: &Formation) -> bool {
    let servers = plan.shards.iter().map(|shard| &shard.server);
    let workers = || formation.workers.iter().map(|(host, _)| host);
    servers.eq(formation.servers.iter().map(|(host, _)| host))
        && workers().all(|host| plan.flows.iter().any(|flow| flow.worker == *host))
        && plan.flows.iter().all(|flow| workers().any(|host| *host == flow.worker))
}

/// A job for those hosts of it that are there.
///
/// # Errors
/// The topology has no such job.
pub fn job_of(topology: &Topology, name: &str, formation: &Formation) -> Result<Job, String> {
    let job = topology.job_named(name);
    let job = job.ok_or_else(|| format!("topology {} has no job {name}", topology.name()))?;
    let ids = |hosts: &[(String, Incarnation)]| {
        hosts.iter().filter_map(|(host, _)| topology.node_named(host)).collect::<Vec<_>>()
    };
    Ok(Job { workers: ids(&formation.workers), servers: ids(&formation.servers), ..job.clone() })
}

/// Plans a job for those hosts of it that are there, as its plan in force was planned, with what other jobs
/// use as background traffic. Where they leave it next to nothing, it gets what fairness gives it: then the
/// plans of the others, in their order, come after its own. `time_left` is in seconds.
///
/// # Errors
/// Why there is no plan, in words.
pub fn plan_view(
    topology: &Topology,
    others: &[Plan],
    running: &Plan,
    formation: &Formation,
    time_left: &dyn Fn() -> f64,
) -> Result<(Plan, Vec<Plan>), String> {
    let job = job_of(topology, &running.job, formation)?;
    let occupied = topology.occupied_by(others).with_jobs(vec![job.clone()]);
    let scheme = schemes::named(&running.scheme).unwrap_or(schemes::DEFAULT);
    let results = if running.results_counted { Results::Counted } else { Results::Ignored };
    let options = Options { seed: running.seed, results, time_left, ..Options::new(scheme) };
    let alone = plan(&occupied, &job, &options).map(|plan| (plan, Vec::new())).map_err(|why| why.to_string());
    if others.is_empty() || alone.as_ref().is_ok_and(|(plan, _)| plan.rate_bps >= running.rate_bps * LEAST) {
        return alone;
    }
    let Ok(mut together) = plan_joining(topology, others, &[&job], &options) else { return alone };
    together.pop().map_or(alone, |plan| Ok((plan, together)))
}
