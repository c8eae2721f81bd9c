//! Next view of an elastic job: its plan, possibly for other hosts, in place of the previous one, which no
//! host uses. Pure.

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

/// Least part of the rate that other jobs may leave to a view that is planned without them; below it, for
/// example at rounding noise, all are planned together.
const LEAST: f64 = 0.05;

/// Next view of a job.
#[derive(Debug, Clone, PartialEq)]
pub struct NextView {
    /// New push.
    pub to: Push,
    /// Assignment of the hosts.
    pub assignment: Assignment,
    /// Tables of the switches.
    pub desired: Network,
}

/// Computes the next view of a job without an active view. `current` are the switches' tables, `record` the
/// job's record. Window and rate scale stay. All its older plan versions are removed.
///
/// # Errors
/// A view that cannot be installed.
pub fn next_view(
    fabric: &Fabric,
    current: &Network,
    record: &JobRecord,
    job: JobId,
    plan: Plan,
) -> Result<NextView, LiveChangeError> {
    let live = record.live().ok_or_else(|| LiveChangeError::NoActivePlan { job: plan.job.clone() })?;
    let (window_chunks, rate_scale) = (live.window_chunks, live.rate_scale);
    let job = JobPlan { job, plan, window_chunks, rate_scale, new_plan_version: true };
    let mut assignment = fabric.assignment(&job)?;
    let mut wanted = fabric.wanted(&job, Some(record), Numbers::Unchecked)?;
    wanted.known.stale.extend(wanted.known.live.into_iter().chain(wanted.known.open));
    let intent = intent::live_intent(fabric.limits, current, &wanted)?;
    assignment.plan_version = intent.plan_versions[&job.job];
    Ok(NextView { to: fabric.push(&job, assignment.plan_version), assignment, desired: intent.desired })
}

/// Computes the first view of a job next to running jobs. `record` is that of an earlier job with the same
/// number. All its older plan versions are removed.
///
/// # Errors
/// A view that cannot be installed.
pub fn first_view(
    fabric: &Fabric,
    current: &Network,
    record: &JobRecord,
    job: &JobPlan,
) -> Result<NextView, LiveChangeError> {
    let mut assignment = fabric.assignment(job)?;
    let mut wanted = fabric.wanted(job, Some(record), Numbers::Unchecked)?;
    wanted.known.stale.extend(wanted.known.live);
    let intent = intent::live_intent(fabric.limits, current, &wanted)?;
    assignment.plan_version = intent.plan_versions[&job.job];
    Ok(NextView { to: fabric.push(job, assignment.plan_version), assignment, desired: intent.desired })
}

/// Returns whether a plan is for exactly these hosts.
pub fn is_for(plan: &Plan, formation: &Formation) -> bool {
    let servers = plan.shards.iter().map(|shard| &shard.server);
    let workers = || formation.workers.iter().map(|(host, _)| host);
    servers.eq(formation.servers.iter().map(|(host, _)| host))
        && workers().all(|host| plan.flows.iter().any(|flow| flow.worker == *host))
        && plan.flows.iter().all(|flow| workers().any(|host| *host == flow.worker))
}

/// Returns a job reduced to the connected hosts.
///
/// # Errors
/// A job that the topology does not have.
pub fn job_of(topology: &Topology, name: &str, formation: &Formation) -> Result<Job, String> {
    let job = topology.job_named(name);
    let job = job.ok_or_else(|| format!("topology {} has no job {name}", topology.name()))?;
    let ids = |hosts: &[(String, Incarnation)]| {
        hosts.iter().filter_map(|(host, _)| topology.node_named(host)).collect::<Vec<_>>()
    };
    Ok(Job { workers: ids(&formation.workers), servers: ids(&formation.servers), ..job.clone() })
}

/// Plans a job for the connected hosts, with the settings of its active plan, and with other jobs as
/// background traffic. If they leave almost nothing, the job gets its fair rate: then the plans of the
/// others, in their order, follow its own. `time_left` is in seconds.
///
/// # Errors
/// A failure of the planner, in words.
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
