//! Current state of a network: without failed parts, with measured background traffic. Pure; nodes keep their
//! ids, names and jobs.

use std::collections::HashSet;

use petgraph::graph::UnGraph;

use super::background_rates::BackgroundRates;
use super::{LinkId, NodeId, NodeKind, Topology};

impl Topology {
    /// Returns the document's background traffic.
    pub fn background(&self) -> BackgroundRates {
        BackgroundRates {
            links: self.links.iter().map(|link| link.background_bps).collect(),
            nodes: self.nodes.iter().map(|node| node.background_bps).collect(),
        }
    }

    /// Returns the network with other background traffic. Rates that are not a positive number
    /// count as none.
    ///
    /// # Panics
    /// If the lists are not as long as those of links and nodes.
    pub fn with_background(&self, background: &BackgroundRates) -> Topology {
        assert_eq!(background.links.len(), self.links.len(), "one entry per link");
        assert_eq!(background.nodes.len(), self.nodes.len(), "one entry per node");
        let rate = |bps: f64| if bps.is_finite() { bps.max(0.0) } else { 0.0 };
        let mut loaded = self.clone();
        for (link, &bps) in loaded.links.iter_mut().zip(&background.links) {
            link.background_bps = bps.map(rate);
        }
        for (node, &bps) in loaded.nodes.iter_mut().zip(&background.nodes) {
            node.background_bps = if node.kind == NodeKind::Worker { 0.0 } else { rate(bps) };
        }
        loaded
    }

    /// Returns the network without these links, and without the links of these switches. The switches stay in
    /// the list of nodes, unreachable. Ids of nodes do not change; those of links do.
    pub fn without(&self, links: &[LinkId], switches: &[NodeId]) -> Topology {
        let links: HashSet<usize> = links.iter().map(|link| link.index()).collect();
        let gone = |end: &NodeId| switches.contains(end) && self.node(*end).kind == NodeKind::Switch;
        let stays = |(at, link): &(usize, &super::Link)| !links.contains(at) && !link.ends.iter().any(gone);
        let links: Vec<super::Link> =
            self.links.iter().enumerate().filter(stays).map(|(_, link)| link.clone()).collect();
        let mut graph = UnGraph::default();
        for _ in &self.nodes {
            graph.add_node(());
        }
        for link in &links {
            graph.add_edge(link.ends[0].0.into(), link.ends[1].0.into(), ());
        }
        Topology { links, graph, ..self.without_sums(switches) }
    }

    /// Returns the network in which these switches forward and aggregate nothing.
    pub fn without_sums(&self, switches: &[NodeId]) -> Topology {
        let mut topology = self.clone();
        for id in switches {
            topology.nodes[id.index()].aggregation_bps = 0.0;
        }
        topology
    }
}
