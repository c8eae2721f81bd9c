//! Networks on which faults happen.

use crate::sites::{Overlay, SiteId};
use crate::switched::{LinkId, NodeId, NodeKind, Topology};

/// A link of a network on which faults happen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NetworkLink<N, L> {
    /// The link.
    pub id: L,
    /// Both ends.
    pub ends: [N; 2],
    /// Part of the frames that it loses in each direction, from 0 to below 1.
    pub loss: f64,
}

/// A network of named nodes and links that faults name.
pub trait FaultNetwork {
    /// A node.
    type Node: Copy + Ord;
    /// A link.
    type Link: Copy + Ord;
    /// The process that plans for all nodes.
    const CONTROLLER: &'static str;

    /// Returns the network in words, like `topology fig1`.
    fn title(&self) -> String;

    /// Returns the node of that name.
    fn node_named(&self, name: &str) -> Option<Self::Node>;

    /// Returns a node's name.
    fn node_name(&self, node: Self::Node) -> &str;

    /// Returns the node's kind, in one word, and its role in faults.
    fn role(&self, node: Self::Node) -> (&'static str, Role);

    /// Returns the link between two nodes.
    fn link_between(&self, a: Self::Node, b: Self::Node) -> Option<Self::Link>;

    /// Returns all links.
    fn links(&self) -> Vec<NetworkLink<Self::Node, Self::Link>>;
}

/// Faults that a node may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Forwards.
    Switch,
    /// Host whose process loses its job when it is killed.
    Worker,
    /// Host whose process restarts.
    Server,
}

impl Role {
    /// Returns the role in one word.
    pub fn name(self) -> &'static str {
        match self {
            Role::Switch => "switch",
            Role::Worker => "worker",
            Role::Server => "server",
        }
    }
}

impl FaultNetwork for Topology {
    type Node = NodeId;
    type Link = LinkId;
    const CONTROLLER: &'static str = "controller";

    fn title(&self) -> String {
        format!("topology {}", self.name())
    }

    fn node_named(&self, name: &str) -> Option<NodeId> {
        self.node_named(name)
    }

    fn node_name(&self, node: NodeId) -> &str {
        &self.node(node).name
    }

    fn role(&self, node: NodeId) -> (&'static str, Role) {
        let kind = self.node(node).kind;
        let role = match kind {
            NodeKind::Switch => Role::Switch,
            NodeKind::Worker => Role::Worker,
            NodeKind::Server => Role::Server,
        };
        (kind.name(), role)
    }

    fn link_between(&self, a: NodeId, b: NodeId) -> Option<LinkId> {
        self.link_between(a, b)
    }

    fn links(&self) -> Vec<NetworkLink<NodeId, LinkId>> {
        let all = self.link_ids().map(|id| (id, self.link(id)));
        all.map(|(id, link)| NetworkLink { id, ends: link.ends, loss: link.loss }).collect()
    }
}

/// Links of a network of sites are positions in [`Overlay::links`].
impl FaultNetwork for Overlay {
    type Node = SiteId;
    type Link = usize;
    const CONTROLLER: &'static str = "scheduler";

    fn title(&self) -> String {
        format!("network {}", self.name())
    }

    fn node_named(&self, name: &str) -> Option<SiteId> {
        self.site_named(name)
    }

    fn node_name(&self, node: SiteId) -> &str {
        self.site_name(node)
    }

    fn role(&self, _node: SiteId) -> (&'static str, Role) {
        ("site", Role::Server)
    }

    fn link_between(&self, a: SiteId, b: SiteId) -> Option<usize> {
        self.arc_between(a, b).map(|arc| arc.index() / 2)
    }

    fn links(&self) -> Vec<NetworkLink<SiteId, usize>> {
        let all = self.links().iter().enumerate();
        all.map(|(id, link)| NetworkLink { id, ends: link.ends, loss: link.loss }).collect()
    }
}
