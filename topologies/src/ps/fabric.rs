//! Fabric between participants and servers: switches that do not block, so that only the hosts' own links
//! limit a transfer.

use petgraph::algo::{dijkstra, ford_fulkerson};
use petgraph::graph::{DiGraph, NodeIndex, UnGraph};

use super::network::Nic;
use crate::error::{NetworkError, Result};
use crate::switched::{Job, NodeId, NodeKind, Topology};
use crate::units::display_rate;

/// Relative tolerance for switches that carry less than their hosts: rates are rounded to bit/s.
const ROUNDING: f64 = 1e-6;
/// With less, in bit/s, transfers would not end in numbers that a clock has.
const LEAST_BPS: f64 = 1.0;

/// A topology's links, as far as transfers see them.
pub(super) struct Fabric<'t> {
    topology: &'t Topology,
    delays: UnGraph<(), f64>,
}

impl<'t> Fabric<'t> {
    pub fn new(topology: &'t Topology) -> Self {
        let mut delays = UnGraph::new_undirected();
        topology.nodes().iter().for_each(|_| {
            delays.add_node(());
        });
        for link in topology.links() {
            let [a, b] = link.ends.map(node);
            delays.add_edge(a, b, link.delay_seconds);
        }
        Fabric { topology, delays }
    }

    /// Returns a host's rates: the sum of its links, less background traffic.
    pub fn nic(&self, at: u64, place: &str, host: NodeId) -> Result<Nic> {
        let (mut out_bps, mut in_bps) = (0.0, 0.0);
        for link in self.topology.links().iter().filter(|link| link.ends.contains(&host)) {
            let is_second = usize::from(link.ends[1] == host);
            let left = |way: usize| (link.rates_bps[way] - link.background_bps[way]).max(0.0);
            out_bps += left(is_second);
            in_bps += left(1 - is_second);
        }
        let node = self.topology.node(host);
        if let Some(most) = node.ingress_bps {
            in_bps = in_bps.min((most - node.background_bps).max(0.0));
        }
        if out_bps >= LEAST_BPS && in_bps >= LEAST_BPS {
            return Ok(Nic { out_bps, in_bps });
        }
        let problem = format!("others leave {} less than 1 bit/s in one direction", node.name);
        Err(NetworkError::new(at, place, problem, "lower `background`, or raise the rates of its links"))
    }

    /// Returns all servers together.
    pub fn server(&self, at: u64, place: &str, servers: &[NodeId]) -> Result<Nic> {
        let mut all = Nic { out_bps: 0.0, in_bps: 0.0 };
        for &server in servers {
            let nic = self.nic(at, place, server)?;
            all = Nic { out_bps: all.out_bps + nic.out_bps, in_bps: all.in_bps + nic.in_bps };
        }
        Ok(all)
    }

    /// Returns the delay to the server that is farthest, in seconds.
    pub fn delay_s(&self, servers: &[NodeId], host: NodeId) -> f64 {
        let delays = dijkstra(&self.delays, node(host), None, |edge| *edge.weight());
        servers.iter().filter_map(|server| delays.get(&node(*server))).copied().fold(0.0, f64::max)
    }

    /// Refuses switches that carry less than all workers send together, or all servers take.
    pub fn carries(&self, at: u64, place: &str, job: &Job) -> Result<()> {
        let mut graph = DiGraph::<(), u64>::new();
        let nodes: Vec<_> = self.topology.nodes().iter().map(|_| graph.add_node(())).collect();
        let [from, to] = [graph.add_node(()), graph.add_node(())];
        let whole = |bps: f64| bps.clamp(0.0, 1e18) as u64;
        for link in self.topology.links() {
            let [a, b] = link.ends;
            let is_host = |end: NodeId| self.topology.node(end).kind != NodeKind::Switch;
            for (from, to, way) in [(a, b, 0), (b, a, 1)] {
                // Hosts do not forward.
                let ends = !is_host(from) || job.workers.contains(&from);
                if ends && (!is_host(to) || job.servers.contains(&to)) {
                    graph.add_edge(
                        nodes[from.index()],
                        nodes[to.index()],
                        whole(link.rates_bps[way] - link.background_bps[way]),
                    );
                }
            }
        }
        let (mut sent, mut taken) = (0, 0);
        for &worker in &job.workers {
            let bps = whole(self.nic(at, place, worker)?.out_bps);
            sent += bps;
            graph.add_edge(from, nodes[worker.index()], bps);
        }
        for &server in &job.servers {
            let bps = whole(self.nic(at, place, server)?.in_bps);
            taken += bps;
            graph.add_edge(nodes[server.index()], to, bps);
        }
        let (carried, _) = ford_fulkerson(&graph, from, to);
        let needed = sent.min(taken);
        if carried as f64 >= needed as f64 * (1.0 - ROUNDING) {
            return Ok(());
        }
        let problem = format!(
            "the switches carry {} to its servers, and hosts send {}",
            display_rate(carried as f64),
            display_rate(needed as f64)
        );
        let fix = "give the links between switches more: only hosts' own links are simulated";
        Err(NetworkError::new(at, place, problem, fix))
    }
}

fn node(id: NodeId) -> NodeIndex {
    NodeIndex::new(id.index())
}
