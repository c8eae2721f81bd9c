//! The checker's view of the network: its nodes, links, capacities and distances.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use crate::plan::{Limit, Plan};
use inart_topologies::switched::{NodeId, NodeKind, Topology};

/// Resource of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Resource {
    /// A link in one direction.
    Arc(NodeId, NodeId),
    /// A switch's aggregation, or a server's ingress.
    Node(NodeId),
}

pub(super) struct Network<'t> {
    pub topology: &'t Topology,
    neighbors: HashMap<NodeId, Vec<NodeId>>,
    /// Hops to the requested nodes, by node.
    distances: RefCell<HashMap<NodeId, Rc<HashMap<NodeId, usize>>>>,
}

impl<'t> Network<'t> {
    pub fn new(topology: &'t Topology) -> Self {
        let mut neighbors: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
        for [a, b] in topology.links().iter().map(|link| link.ends) {
            neighbors.entry(a).or_default().push(b);
            neighbors.entry(b).or_default().push(a);
        }
        Network { topology, neighbors, distances: RefCell::default() }
    }

    pub fn node(&self, name: &str) -> Option<NodeId> {
        self.topology.node_named(name)
    }

    pub fn name(&self, id: NodeId) -> &'t str {
        &self.topology.node(id).name
    }

    pub fn is_switch(&self, id: NodeId) -> bool {
        self.topology.node(id).kind == NodeKind::Switch
    }

    /// Returns whether a switch can aggregate.
    pub fn adds_up(&self, id: NodeId) -> bool {
        self.is_switch(id) && self.topology.node(id).aggregation_bps > 0.0
    }

    pub fn is_link(&self, from: NodeId, to: NodeId) -> bool {
        self.topology.link_between(from, to).is_some()
    }

    /// Returns the number of hops from one node to another over switches, independent of traffic.
    pub fn distance(&self, from: NodeId, to: NodeId) -> usize {
        let known = self.distances.borrow().get(&to).cloned();
        let distances = known.unwrap_or_else(|| {
            let found = Rc::new(self.distances_to(to));
            self.distances.borrow_mut().insert(to, found.clone());
            found
        });
        distances.get(&from).copied().unwrap_or(usize::MAX)
    }

    fn distances_to(&self, to: NodeId) -> HashMap<NodeId, usize> {
        let mut distances = HashMap::from([(to, 0)]);
        let mut reached = VecDeque::from([to]);
        while let Some(node) = reached.pop_front() {
            let forwards = node == to || self.is_switch(node);
            let next = distances[&node] + 1;
            for &before in self.neighbors.get(&node).filter(|_| forwards).into_iter().flatten() {
                distances.entry(before).or_insert_with(|| {
                    reached.push_back(before);
                    next
                });
            }
        }
        distances
    }

    /// Returns the available capacity of a resource, bit/s; `None` if it is unlimited.
    pub fn capacity(&self, resource: Resource) -> Option<f64> {
        match resource {
            Resource::Arc(from, to) => {
                let link = self.topology.link(self.topology.link_between(from, to)?);
                let backwards = usize::from(link.ends[0] != from);
                Some((link.rates_bps[backwards] - link.background_bps[backwards]).max(0.0))
            }
            Resource::Node(id) => {
                let node = self.topology.node(id);
                let total = match node.kind {
                    NodeKind::Switch => node.aggregation_bps,
                    NodeKind::Server => node.ingress_bps?,
                    NodeKind::Worker => return None,
                };
                Some((total - node.background_bps).max(0.0))
            }
        }
    }

    /// Returns whether a plan states that it ignores the limit of a resource.
    pub fn ignores(&self, plan: &Plan, resource: Resource) -> bool {
        let Resource::Node(id) = resource else { return false };
        self.is_switch(id) && plan.ignores.contains(&Limit::Aggregation)
    }

    pub fn resource_name(&self, resource: Resource) -> String {
        match resource {
            Resource::Arc(from, to) => format!("link {}->{}", self.name(from), self.name(to)),
            Resource::Node(id) => format!("{} {}", self.topology.node(id).kind, self.name(id)),
        }
    }
}
