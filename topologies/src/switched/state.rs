//! A network as it is now: what failed is out of it, what others use is background. Pure; nodes keep their
//! ids, names and jobs.

use std::collections::HashSet;

use petgraph::graph::UnGraph;

use super::background_rates::BackgroundRates;
use super::{LinkId, NodeId, NodeKind, Topology};

impl Topology {
    /// What the document says of background traffic.
    pub fn background(&self) -> BackgroundRates {
        BackgroundRates {
            links: self.links.iter().map(|link| link.background_bps).collect(),
            nodes: self.nodes.iter().map(|node| node.background_bps).collect(),
        }
    }

    /// The same network with other background traffic in place of its own. Rates that are no positive number
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

    /// The same network without these links, and without the links of these switches, which stay in the list
    /// of nodes but are reached by nobody. Ids of nodes stay; those of links do not.
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

    /// The same network in which these switches forward and add up nothing.
    pub fn without_sums(&self, switches: &[NodeId]) -> Topology {
        let mut topology = self.clone();
        for id in switches {
            topology.nodes[id.index()].aggregation_bps = 0.0;
        }
        topology
    }
}
