//! Places of hosts that are given by name.

use anyhow::Context;
use inart_protocol_aggregation::Assignment;
use inart_topologies::Network;
use inart_topologies::switched::{NodeId, Topology};

/// Returns a worker's place in an assignment.
pub fn worker_of_assignment(assignment: &Assignment, name: &str) -> anyhow::Result<u16> {
    place(assignment.workers.iter().map(|worker| &*worker.name), name, assignment)
}

/// Returns the place of a server's shard in an assignment.
pub fn server_of_assignment(assignment: &Assignment, name: &str) -> anyhow::Result<u16> {
    place(assignment.shards.iter().map(|shard| &*shard.server), name, assignment)
}

fn place<'n>(
    names: impl Iterator<Item = &'n str> + Clone,
    name: &str,
    of: &Assignment,
) -> anyhow::Result<u16> {
    let place = names.clone().position(|known| known == name).and_then(|place| u16::try_from(place).ok());
    place.with_context(|| {
        let all = names.collect::<Vec<_>>().join(", ");
        format!(
            "--name {name}: not in the assignment of job {}, which has {all}; give that of its own job",
            of.name
        )
    })
}

/// Returns a worker's place in the list of its elastic job's document.
pub fn worker_of_document(network: &Network, name: &str, job: &str) -> anyhow::Result<u16> {
    place_in_document(network, name, job, |job| &job.workers)
}

/// Returns a server's place in the list of its elastic job's document.
pub fn server_of_document(network: &Network, name: &str, job: &str) -> anyhow::Result<u16> {
    place_in_document(network, name, job, |job| &job.servers)
}

fn place_in_document(
    network: &Network,
    name: &str,
    job: &str,
    list: fn(&inart_topologies::switched::Job) -> &Vec<NodeId>,
) -> anyhow::Result<u16> {
    let topologies: Vec<&Topology> = match network {
        Network::Switched(switched) => vec![&switched.topology],
        Network::Sites(sites) => sites.insides.iter().map(|inside| &inside.topology).collect(),
        Network::Peers(_) => Vec::new(),
    };
    let place = topologies.into_iter().find_map(|topology| {
        let mut hosts = list(topology.job_named(job)?).iter();
        u16::try_from(hosts.position(|&host| topology.node(host).name == name)?).ok()
    });
    place.with_context(|| {
        format!("--name {name}: not in job {job} of network {}; name a host of it", network.name())
    })
}
