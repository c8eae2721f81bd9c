//! Reads a plan's flows and trunks as one graph for each shard: senders, aggregation points, and ends.

use std::collections::{HashMap, HashSet};

use super::network::Network;
use super::violation::Findings;
use crate::choices::Paths;
use crate::plan::{Plan, Trunk};
use inart_topologies::switched::{Job, NodeId};

/// Path of a worker's gradient, or of a switch's sum, towards the server.
pub(super) struct Leg<'p> {
    /// Description for messages.
    pub place: String,
    pub source: NodeId,
    /// Aggregation point at its end: a switch, or the server.
    pub end: NodeId,
    pub path: Vec<NodeId>,
    /// Workers in a sum according to the plan.
    pub stated: Option<&'p [String]>,
    /// Frames per chunk; more than one for sums of more workers than one bitmap names.
    pub frames: usize,
}

/// One server's shard.
pub(super) struct Shard<'p> {
    pub server: NodeId,
    /// x_s.
    pub share: f64,
    pub legs: Vec<Leg<'p>>,
}

/// Returns the shards of a plan, in the job's order, without parts that name no node, or have no path.
pub(super) fn shards<'p>(
    network: &Network<'_>,
    job: &Job,
    plan: &'p Plan,
    shares: &HashMap<NodeId, f64>,
    findings: &mut Findings,
) -> Vec<Shard<'p>> {
    let mut reader = Reader { network, job, plan, findings };
    let mut legs: HashMap<NodeId, Vec<Leg<'p>>> = HashMap::new();
    reader.flows(&mut legs);
    reader.trunks(&mut legs);
    let shard = |&server: &NodeId| Shard {
        server,
        share: shares.get(&server).copied().unwrap_or(0.0),
        legs: legs.remove(&server).unwrap_or_default(),
    };
    job.servers.iter().map(shard).collect()
}

pub(super) fn trunk_place(trunk: &Trunk) -> String {
    format!("trunk {} to {}", trunk.aggregator, trunk.server)
}

struct Reader<'r, 'p> {
    network: &'r Network<'r>,
    job: &'r Job,
    plan: &'p Plan,
    findings: &'r mut Findings,
}

impl<'p> Reader<'_, 'p> {
    fn flows(&mut self, legs: &mut HashMap<NodeId, Vec<Leg<'p>>>) {
        let (job, plan) = (self.job, self.plan);
        let mut sent: HashSet<(NodeId, NodeId)> = HashSet::new();
        for flow in &plan.flows {
            let place = format!("flow {} to {}", flow.worker, flow.server);
            let worker = self.member(&place, &flow.worker, &job.workers, "worker");
            let server = self.member(&place, &flow.server, &job.servers, "server");
            let (Some(source), Some(server)) = (worker, server) else { continue };
            if !sent.insert((source, server)) {
                self.findings.wrong(&place, "listed twice: each worker's share is summed in one place");
            }
            let end = match &flow.aggregator {
                None => Some(server),
                Some(name) => self.aggregator(&place, name),
            };
            let Some(end) = end else { continue };
            if let Some(path) = self.path(&place, &flow.path, source, end) {
                let leg = Leg { place, source, end, path, stated: None, frames: 1 };
                legs.entry(server).or_default().push(leg);
            }
        }
        for &worker in &job.workers {
            for &server in job.servers.iter().filter(|&&server| !sent.contains(&(worker, server))) {
                let (worker, server) = (self.network.name(worker), self.network.name(server));
                self.findings.wrong(&format!("flow {worker} to {server}"), "missing");
            }
        }
    }

    fn trunks(&mut self, legs: &mut HashMap<NodeId, Vec<Leg<'p>>>) {
        let (job, plan, network) = (self.job, self.plan, self.network);
        let mut listed: HashSet<(NodeId, NodeId)> = HashSet::new();
        for trunk in &plan.trunks {
            let place = trunk_place(trunk);
            let server = self.member(&place, &trunk.server, &job.servers, "server");
            let (Some(server), Some(source)) = (server, self.aggregator(&place, &trunk.aggregator)) else {
                continue;
            };
            if !listed.insert((server, source)) {
                self.findings.wrong(&place, "the trunk is listed twice");
            }
            let last = trunk.path.last().and_then(|name| network.node(name));
            let end = last.filter(|&end| end != source && network.is_switch(end)).unwrap_or(server);
            if let Some(path) = self.path(&place, &trunk.path, source, end) {
                let stated = Some(trunk.workers.as_slice());
                legs.entry(server).or_default().push(Leg { place, source, end, path, stated, frames: 1 });
            }
        }
    }

    fn member(&mut self, place: &str, name: &str, members: &[NodeId], kind: &str) -> Option<NodeId> {
        let found = self.network.node(name).filter(|id| members.contains(id));
        if found.is_none() {
            self.findings.wrong(place, format!("\"{name}\" is not a {kind} of the job"));
        }
        found
    }

    /// Returns the node of that name if it is a switch that can aggregate.
    fn aggregator(&mut self, place: &str, name: &str) -> Option<NodeId> {
        let found = self.network.node(name).filter(|&id| self.network.is_switch(id));
        match found {
            None => self.findings.wrong(place, format!("\"{name}\" is not a switch")),
            Some(id) if !self.network.adds_up(id) => {
                self.findings.wrong(place, format!("{name} has no aggregation: it only forwards"));
            }
            Some(_) => {}
        }
        found
    }

    /// A path: from `start` to `end`, over existing links, through switches only, no node twice.
    fn path(&mut self, place: &str, path: &[String], start: NodeId, end: NodeId) -> Option<Vec<NodeId>> {
        let network = self.network;
        let nodes: Option<Vec<NodeId>> = path.iter().map(|name| network.node(name)).collect();
        let Some(nodes) = nodes else {
            self.findings.wrong(place, "its path names an unknown node");
            return None;
        };
        let problem = if nodes.first() != Some(&start) || nodes.last() != Some(&end) {
            format!("its path does not lead from {} to {}", network.name(start), network.name(end))
        } else if nodes.iter().collect::<HashSet<_>>().len() != nodes.len() {
            "its path visits a node twice".to_owned()
        } else if let Some(&host) = nodes[1..nodes.len() - 1].iter().find(|&&node| !network.is_switch(node)) {
            format!("its path leads through {}, a host, which does not forward", network.name(host))
        } else if self.plan.paths == Some(Paths::Shortest) && nodes.len() - 1 > network.distance(start, end) {
            "its path is longer than others, in a plan over shortest paths".to_owned()
        } else if let Some(hop) = nodes.windows(2).find(|hop| !network.is_link(hop[0], hop[1])) {
            format!("there is no link {}-{}", network.name(hop[0]), network.name(hop[1]))
        } else {
            return Some(nodes);
        };
        self.findings.wrong(place, problem);
        None
    }
}
