//! Hosts of a plan: all of a job, or the members of an elastic one at planning time.

use std::borrow::Cow;
use std::collections::BTreeSet;

use inart_planner_aggregation::Plan;
use inart_topologies::switched::{Job, NodeId, Topology};

/// Returns the job of a plan: as in the topology, or of an elastic job the hosts that the plan is for.
pub(crate) fn members<'a>(topology: &Topology, job: &'a Job, plan: &Plan) -> Cow<'a, Job> {
    if !job.elastic {
        return Cow::Borrowed(job);
    }
    let workers: BTreeSet<_> = plan.flows.iter().map(|flow| flow.worker.as_str()).collect();
    let servers: BTreeSet<_> = plan.shards.iter().map(|shard| shard.server.as_str()).collect();
    let there = |hosts: &[NodeId], names: &BTreeSet<&str>| {
        let named = |host: &&NodeId| names.contains(topology.node(**host).name.as_str());
        hosts.iter().filter(named).copied().collect::<Vec<_>>()
    };
    let (workers, servers) = (there(&job.workers, &workers), there(&job.servers, &servers));
    Cow::Owned(Job { workers, servers, ..job.clone() })
}
