//! Assignments: what the hosts of a job need to start.

use inart_planner_aggregation::Plan;
use inart_protocol_aggregation::{Assignment, ShardAssignment, WorkerAddress};
use inart_topologies::switched::Topology;
use inart_wire::{JobId, MacAddr, PlanVersion, ValuesPerFrame};

use crate::peers::is_of_peers;
use crate::plan_error::PlanError;
use crate::ports::PortMap;
use crate::requirements::Roles;

/// Plan to install for a job.
#[derive(Debug, Clone, PartialEq)]
pub struct JobPlan {
    /// Number of the job on the wire; see [`job_number`].
    pub job: JobId,
    /// Plan.
    pub plan: Plan,
    /// Chunks in flight per worker and shard, and slots per aggregate: a power of two.
    pub window_chunks: u32,
    /// Factor on the plan's rates for the hosts: 1, or less on a network that is slower than its topology
    /// says.
    pub rate_scale: f64,
    /// Whether to use a new plan version even if this very plan is installed: for a job that starts again,
    /// since sequence numbers count from 0 within a plan version.
    pub new_plan_version: bool,
}

/// Returns the number of a job of the topology: its position in the list, from 1 to 32767. Jobs of peers
/// have the numbers above.
pub fn job_number(topology: &Topology, name: &str) -> Option<JobId> {
    let index = topology.jobs().iter().position(|job| job.name == name)?;
    JobId::try_from(index + 1).ok().filter(|job| !is_of_peers(*job))
}

/// Least share of a shard: less than one value of any real gradient.
const LEAST_SHARE: f64 = 1e-9;

/// Returns the assignment of `job`, with a plan version to be chosen later.
///
/// # Errors
/// A host that the network does not have, or an assignment that contradicts itself.
pub fn of_job(
    ports: &PortMap,
    roles: &Roles,
    job: &JobPlan,
    values: ValuesPerFrame,
) -> Result<Assignment, PlanError> {
    let mac = |name: &str| -> Result<MacAddr, PlanError> {
        ports.mac(name).ok_or_else(|| PlanError::UnknownName {
            name: name.to_owned(),
            what: "host",
            job: roles.job.to_owned(),
        })
    };
    let worker = |name: &&str| Ok(WorkerAddress { name: (*name).to_owned(), mac: mac(name)? });
    let shards = job.plan.shards.iter().zip(&roles.bitmap_indices).map(|(shard, bitmap_indices)| {
        // A smaller share is rounding noise of the planner. If rounding gave such a shard a value, sending
        // it would take centuries.
        let share = if shard.share >= LEAST_SHARE { shard.share } else { 0.0 };
        // An empty shard sends nothing, at any rate above zero.
        let part = if share > 0.0 { share } else { 1.0 };
        Ok(ShardAssignment {
            server: shard.server.clone(),
            mac: mac(&shard.server)?,
            share,
            rate_bps: job.plan.rate_bps * part * job.rate_scale,
            bitmap_indices: bitmap_indices.clone(),
        })
    });
    let assignment = Assignment {
        job: job.job,
        name: roles.job.to_owned(),
        plan_version: PlanVersion::from(0),
        values_per_frame: values,
        window_chunks: job.window_chunks,
        exact_sums: job.plan.exact,
        workers: roles.workers.iter().map(worker).collect::<Result<_, PlanError>>()?,
        shards: shards.collect::<Result<_, PlanError>>()?,
    };
    assignment.validate().map_err(PlanError::Assignment)?;
    Ok(assignment)
}
