//! The InArt model of one job on one network: resources with their available capacity, and allowed
//! destinations.
//!
//! Every constraint of Eq. (1) is a capacity of one *resource*: a link in one direction (B(e) - b(e)), a
//! switch's aggregation (C(v) - c(v)) or a server's ingress (B(s) - b(s)). A plan loads resource r with the
//! sum over servers of F_s times n(s, r), where F_s = f x_s is the rate every worker sends to server s and
//! n(s, r) counts the flows and partial sums of shard s on r. So a plan's rate is the smallest capacity over
//! load, and for a given placement the best shares are a linear program with one variable per server.

use std::cell::OnceCell;

use crate::choices::Results;
use crate::plan::Load;
use inart_topologies::switched::{Job, Link, NodeId, NodeKind, Topology};

/// A link in one direction; arc `2 l` of link `l` runs from its first end to its second, `2 l + 1` back.
pub(crate) type Arc = u32;
/// Position of a node in the topology.
pub(crate) type NodeIx = u32;
/// An arc, or (after all arcs) a node's own capacity.
pub(crate) type Resource = u32;

/// One job on one network.
pub(crate) struct Model<'a> {
    pub topology: &'a Topology,
    pub job: &'a Job,
    /// W: senders, in the job's order.
    pub workers: Vec<NodeIx>,
    /// S: servers, in the job's order.
    pub servers: Vec<NodeIx>,
    /// V: switches with available aggregation capacity.
    pub aggregators: Vec<NodeIx>,
    /// Available capacity of every resource; infinite if unlimited.
    pub capacity: Vec<f64>,
    /// Whether results count on the links: then every placement has a tree of results for each server.
    pub results: Results,
    /// x_s that every plan has, where shares are not to be chosen but kept.
    pub kept: Option<Vec<f64>>,
    /// Highest rate that is sought; infinite for the best.
    ceiling_bps: f64,
    /// First index into `out` of every node's arcs, and the end.
    first_out: Vec<u32>,
    out: Vec<(Arc, NodeIx)>,
    first_in: Vec<u32>,
    into: Vec<(Arc, NodeIx)>,
    /// Adjacency over all links, including full ones; computed on first use.
    built: OnceCell<Adjacency>,
}

/// First index of every node's arcs in the list, and the end; the arcs with their heads.
type Adjacency = (Vec<u32>, Vec<(Arc, NodeIx)>);

impl<'a> Model<'a> {
    /// The job alone on the network.
    pub fn new(topology: &'a Topology, job: &'a Job, results: Results) -> Self {
        Self::within(topology, job, results, capacities(topology), f64::INFINITY)
    }

    /// Creates the model of a job within the available capacity of every resource, as [`capacities`] lists
    /// them, at no more than `ceiling_bps`.
    pub fn within(
        topology: &'a Topology,
        job: &'a Job,
        results: Results,
        capacity: Vec<f64>,
        ceiling_bps: f64,
    ) -> Self {
        let index = |ids: &[NodeId]| ids.iter().map(|id| id.0).collect();
        let arcs = arcs(topology);
        let nodes = topology.nodes().len();
        let (first_out, out) = adjacency(nodes, &arcs, &capacity);
        let reversed: Vec<_> = arcs.iter().map(|&(a, b)| (b, a)).collect();
        let (first_in, into) = adjacency(nodes, &reversed, &capacity);
        let arc_count = arcs.len();
        let aggregators = (0..nodes as u32)
            .filter(|&n| topology.nodes()[n as usize].kind == NodeKind::Switch)
            .filter(|&n| capacity[arc_count + n as usize] > 0.0)
            .collect();
        Model {
            topology,
            job,
            workers: index(&job.workers),
            servers: index(&job.servers),
            aggregators,
            capacity,
            results,
            kept: None,
            ceiling_bps,
            first_out,
            out,
            first_in,
            into,
            built: OnceCell::new(),
        }
    }

    /// Returns the model with other capacities, as [`capacities`] lists them.
    pub fn with_capacity(&self, capacity: Vec<f64>) -> Model<'a> {
        let within = Model::within(self.topology, self.job, self.results, capacity, self.ceiling_bps);
        Model { kept: self.kept.clone(), ..within }
    }

    /// Returns the arcs out of a node over all links, with their heads.
    pub fn arcs_built(&self, node: NodeIx) -> &[(Arc, NodeIx)] {
        let (first, list) = self.built.get_or_init(|| {
            let arcs = arcs(self.topology);
            adjacency(self.topology.nodes().len(), &arcs, &vec![1.0; arcs.len()])
        });
        &list[first[node as usize] as usize..first[node as usize + 1] as usize]
    }

    /// Number of arcs; the resources from here on are the nodes.
    pub fn arcs(&self) -> usize {
        2 * self.topology.links().len()
    }

    /// The aggregation of a switch, or the ingress of a server, as a resource.
    pub fn own(&self, node: NodeIx) -> Resource {
        self.arcs() as u32 + node
    }

    pub fn capacity_of(&self, resource: Resource) -> f64 {
        self.capacity[resource as usize]
    }

    /// Returns the usable arcs out of a node, with their heads.
    pub fn arcs_out(&self, node: NodeIx) -> &[(Arc, NodeIx)] {
        &self.out[self.first_out[node as usize] as usize..self.first_out[node as usize + 1] as usize]
    }

    /// Returns the usable arcs into a node, with their tails.
    pub fn arcs_in(&self, node: NodeIx) -> &[(Arc, NodeIx)] {
        &self.into[self.first_in[node as usize] as usize..self.first_in[node as usize + 1] as usize]
    }

    /// Returns whether a node forwards: only switches do.
    pub fn forwards(&self, node: NodeIx) -> bool {
        self.topology.nodes()[node as usize].kind == NodeKind::Switch
    }

    pub fn name(&self, node: NodeIx) -> &str {
        &self.topology.nodes()[node as usize].name
    }

    /// Returns the head of an arc.
    pub fn head(&self, arc: Arc) -> NodeIx {
        self.topology.links()[arc as usize / 2].ends[1 - arc as usize % 2].0
    }

    /// Returns the tail of an arc.
    pub fn tail(&self, arc: Arc) -> NodeIx {
        self.topology.links()[arc as usize / 2].ends[arc as usize % 2].0
    }

    /// The total rate at which a host can send (or receive, if `inward`) over its links.
    pub fn access_bps(&self, host: NodeIx, inward: bool) -> f64 {
        let arcs = if inward { self.arcs_in(host) } else { self.arcs_out(host) };
        arcs.iter().map(|&(arc, _)| self.capacity_of(arc)).sum()
    }

    /// B'(s): returns the rate at which a server can receive, through its ingress and its links.
    pub fn intake_bps(&self, server: NodeIx) -> f64 {
        self.capacity_of(self.own(server)).min(self.access_bps(server, true))
    }

    /// Returns the least rate at which some worker can send (and, if results count, receive them), or the
    /// ceiling.
    pub fn min_uplink_bps(&self) -> f64 {
        let back = |&w: &NodeIx| {
            if self.counts_results() { self.access_bps(w, true) } else { f64::INFINITY }
        };
        self.workers.iter().map(|w| self.access_bps(*w, false).min(back(w))).fold(self.ceiling_bps, f64::min)
    }

    /// Returns whether results count.
    pub fn counts_results(&self) -> bool {
        self.results == Results::Counted
    }

    /// Returns the total rate of a server's links for its results; infinite if results do not count.
    pub fn outlet_bps(&self, server: NodeIx) -> f64 {
        if self.counts_results() { self.access_bps(server, false) } else { f64::INFINITY }
    }

    /// Returns the rate of the widest of these links: each first link of a tree carries all results.
    pub fn widest_outlet_bps(&self, server: NodeIx) -> f64 {
        if !self.counts_results() {
            return f64::INFINITY;
        }
        self.arcs_out(server).iter().map(|&(arc, _)| self.capacity_of(arc)).fold(0.0, f64::max)
    }

    pub fn resource_name(&self, resource: Resource) -> String {
        // Plans name hundreds of resources: no formatter.
        if (resource as usize) < self.arcs() {
            return ["link ", self.name(self.tail(resource)), "->", self.name(self.head(resource))].concat();
        }
        let node = &self.topology.nodes()[resource as usize - self.arcs()];
        [node.kind.name(), " ", &node.name].concat()
    }

    /// The entry of a plan's load list.
    pub fn load(&self, resource: Resource, used_bps: f64) -> Load {
        Load { resource: self.resource_name(resource), used_bps, capacity_bps: self.capacity_of(resource) }
    }
}

/// Every resource's capacity after background traffic: all arcs, then all nodes.
pub(crate) fn capacities(topology: &Topology) -> Vec<f64> {
    let mut capacity = Vec::with_capacity(2 * topology.links().len() + topology.nodes().len());
    for link in topology.links() {
        capacity.extend([0, 1].map(|way| left(link.rates_bps[way], link.background_bps[way])));
    }
    for node in topology.nodes() {
        let total = match node.kind {
            NodeKind::Switch => node.aggregation_bps,
            NodeKind::Server => node.ingress_bps.unwrap_or(f64::INFINITY),
            NodeKind::Worker => f64::INFINITY,
        };
        capacity.push(left(total, node.background_bps));
    }
    capacity
}

/// Returns the rest of a capacity after its use: a rest of the size of a rounding error is zero.
fn left(whole: f64, used: f64) -> f64 {
    const ROUNDING: f64 = 1e-12;
    let left = whole - used;
    if left > ROUNDING * used { left } else { 0.0 }
}

/// All links in both directions, as from and to.
fn arcs(topology: &Topology) -> Vec<(NodeIx, NodeIx)> {
    let both = |link: &Link| {
        let [a, b] = link.ends.map(|end| end.0);
        [(a, b), (b, a)]
    };
    topology.links().iter().flat_map(both).collect()
}

/// Compressed adjacency by first node, leaving out arcs without capacity.
fn adjacency(nodes: usize, arcs: &[(NodeIx, NodeIx)], capacity: &[f64]) -> Adjacency {
    let usable = || arcs.iter().enumerate().filter(|&(arc, _)| capacity[arc] > 0.0);
    let mut first = vec![0u32; nodes + 1];
    for (_, &(from, _)) in usable() {
        first[from as usize + 1] += 1;
    }
    for node in 0..nodes {
        first[node + 1] += first[node];
    }
    let mut next = first.clone();
    let mut list = vec![(0, 0); first[nodes] as usize];
    for (arc, &(from, to)) in usable() {
        list[next[from as usize] as usize] = (arc as Arc, to);
        next[from as usize] += 1;
    }
    (first, list)
}
