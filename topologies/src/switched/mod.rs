//! The network and its jobs: nodes, full-duplex links, background traffic, workers and servers of each job.

mod background_rates;
pub mod board;
pub(crate) mod entries;
pub mod generate;
pub mod import;
mod ports;
pub mod ranges;
mod read;
mod state;
pub(crate) mod validate;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::RangeInclusive;

pub use background_rates::BackgroundRates;
pub use board::Board;
use petgraph::graph::UnGraph;

pub use crate::switch_port::SwitchPort;

/// MTU of links that state none, in bytes: Ethernet's.
pub const DEFAULT_MTU: u16 = 1500;

/// MTUs of links, in bytes: from the minimum of every IPv4 host to the jumbo frames of switches.
pub const MTUS: RangeInclusive<u16> = 576..=9216;

/// Index of a node in [`Topology::nodes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// Index of a link in [`Topology::links`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LinkId(pub u32);

impl NodeId {
    /// Returns the index as a position in [`Topology::nodes`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl LinkId {
    /// Returns the index as a position in [`Topology::links`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Role of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// Forwards, and sums gradients up to its aggregation capacity.
    Switch,
    /// A parameter server: completes the sum of its shard.
    Server,
    /// A worker: sends its whole gradient.
    Worker,
}

impl NodeKind {
    /// Returns the name, as in topologies and plans.
    pub fn name(self) -> &'static str {
        match self {
            NodeKind::Switch => "switch",
            NodeKind::Server => "server",
            NodeKind::Worker => "worker",
        }
    }
}

impl fmt::Display for NodeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A node. Hosts (servers, workers) never forward other nodes' traffic.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Unique name.
    pub name: String,
    /// Switch, server or worker.
    pub kind: NodeKind,
    /// C(v), bit/s: the sum of the incoming rates a switch can add up; 0 means it only forwards.
    pub aggregation_bps: f64,
    /// B(s), bit/s: a server's ingress capacity; `None` means the sum of its links.
    pub ingress_bps: Option<f64>,
    /// c(v) or b(s), bit/s: background traffic on that capacity.
    pub background_bps: f64,
    /// Model of a switch, if the document states it: determines its ports.
    pub board: Option<Board>,
}

/// A full-duplex link.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// Two nodes, in the order in which the document names them.
    pub ends: [NodeId; 2],
    /// B(e), bit/s, from the first end to the second, and from the second to the first.
    pub rates_bps: [f64; 2],
    /// Propagation delay in seconds.
    pub delay_seconds: f64,
    /// Part of the frames that the link loses in each direction, from 0 to below 1.
    pub loss: f64,
    /// Longest frame that it carries, in bytes without the Ethernet header of 14.
    pub mtu: u16,
    /// b(e), bit/s, from the first end to the second, and from the second to the first.
    pub background_bps: [f64; 2],
    /// Ports of the ends that are switches, if the document states them: of all links of a switch, or of
    /// none.
    pub ports: [Option<SwitchPort>; 2],
}

impl Link {
    /// Returns the rate of the slower direction, in bit/s.
    pub fn rate_bps(&self) -> f64 {
        self.rates_bps[0].min(self.rates_bps[1])
    }

    /// Returns the ends with stated ports, and the ports.
    pub fn named_ports(&self) -> impl Iterator<Item = (NodeId, SwitchPort)> + '_ {
        self.ends.iter().zip(self.ports).filter_map(|(end, port)| Some((*end, port?)))
    }
}

/// A training job: every worker sends its whole gradient, cut into one shard per server.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// Unique name.
    pub name: String,
    /// At least one; all of kind worker.
    pub workers: Vec<NodeId>,
    /// At least one; all of kind server.
    pub servers: Vec<NodeId>,
    /// Size of one gradient, if the document states it.
    pub gradient_bytes: Option<u64>,
    /// Whether all of its sums are those of the floats, rounded once, and not only those of short tensors.
    pub exact: bool,
    /// Whether hosts may join and leave while it runs.
    pub elastic: bool,
}

/// A validated network with its jobs.
#[derive(Debug, Clone)]
pub struct Topology {
    name: String,
    nodes: Vec<Node>,
    links: Vec<Link>,
    jobs: Vec<Job>,
    by_name: HashMap<String, NodeId>,
    /// Node and edge indices equal [`NodeId`] and [`LinkId`].
    graph: UnGraph<(), ()>,
}

impl Topology {
    /// Returns the document's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns all nodes; [`NodeId`] is the position.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns all links; [`LinkId`] is the position.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Returns all jobs, at least one.
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    /// Returns the ids of all nodes, in order.
    pub fn node_ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// Returns the ids of all links, in order.
    pub fn link_ids(&self) -> impl Iterator<Item = LinkId> + use<> {
        (0..self.links.len() as u32).map(LinkId)
    }

    /// Returns one node.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// Returns one link.
    pub fn link(&self, id: LinkId) -> &Link {
        &self.links[id.index()]
    }

    /// Returns the node of that name.
    pub fn node_named(&self, name: &str) -> Option<NodeId> {
        self.by_name.get(name).copied()
    }

    /// Returns the job of that name.
    pub fn job_named(&self, name: &str) -> Option<&Job> {
        self.jobs.iter().find(|job| job.name == name)
    }

    /// Returns the link between two nodes, in either order (there is at most one).
    pub fn link_between(&self, a: NodeId, b: NodeId) -> Option<LinkId> {
        self.graph.find_edge(a.0.into(), b.0.into()).map(|edge| LinkId(edge.index() as u32))
    }

    /// Returns the neighbors of a node with the links to them.
    pub fn neighbors(&self, id: NodeId) -> impl Iterator<Item = (NodeId, LinkId)> + '_ {
        use petgraph::visit::EdgeRef;
        self.graph.edges(id.0.into()).map(move |edge| {
            let other = if edge.source().index() == id.index() { edge.target() } else { edge.source() };
            (NodeId(other.index() as u32), LinkId(edge.id().index() as u32))
        })
    }

    /// Returns the network with other jobs: at least one, with names of their own, on nodes of this network.
    pub fn with_jobs(&self, jobs: Vec<Job>) -> Topology {
        Topology { jobs, ..self.clone() }
    }

    /// Returns the network with links of that MTU.
    ///
    /// # Panics
    /// If the MTU is not one of [`MTUS`].
    pub fn with_mtu(&self, mtu: u16) -> Topology {
        assert!(MTUS.contains(&mtu), "an MTU of links");
        let mut topology = self.clone();
        topology.links.iter_mut().for_each(|link| link.mtu = mtu);
        topology
    }

    /// Returns the links that frames of the jobs may use: those between switches, and those of the jobs'
    /// hosts. Plans choose among them, and may choose others the next time.
    pub fn job_links(&self) -> impl Iterator<Item = LinkId> + '_ {
        let hosts: HashSet<NodeId> =
            self.jobs.iter().flat_map(|job| job.workers.iter().chain(&job.servers)).copied().collect();
        let used = move |end: NodeId| self.node(end).kind == NodeKind::Switch || hosts.contains(&end);
        self.link_ids().filter(move |&id| self.link(id).ends.iter().all(|&end| used(end)))
    }

    /// Returns the network with every rate, capacity and background multiplied by `factor` (delays and sizes
    /// stay).
    ///
    /// # Panics
    /// If `factor` is not a positive number.
    pub fn scaled(&self, factor: f64) -> Topology {
        assert!(factor.is_finite() && factor > 0.0, "a scale is a positive number");
        let mut scaled = self.clone();
        for node in &mut scaled.nodes {
            node.aggregation_bps *= factor;
            node.ingress_bps = node.ingress_bps.map(|bps| bps * factor);
            node.background_bps *= factor;
        }
        for link in &mut scaled.links {
            link.rates_bps = link.rates_bps.map(|bps| bps * factor);
            link.background_bps = link.background_bps.map(|bps| bps * factor);
        }
        scaled
    }
}
