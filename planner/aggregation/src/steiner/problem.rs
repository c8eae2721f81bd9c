//! Nodes that a tree of results has to reach, and the allowed links.

use crate::model::{Arc, Model, NodeIx};
use crate::results::Trees;
use crate::router::Router;

/// Nodes that the tree of one server has to reach.
#[derive(Clone)]
pub(crate) struct Steiner<'m> {
    pub model: &'m Model<'m>,
    /// Server.
    pub root: NodeIx,
    /// Arcs into workers that have no other: they are in every tree.
    pub leaves: Vec<Arc>,
    /// Further nodes that the tree has to reach: the switches of those workers, and workers on several
    /// switches.
    pub terminals: Vec<NodeIx>,
    /// Whether plans may have each arc in this tree.
    allowed: Vec<bool>,
    /// Whether each node is a terminal.
    is_terminal: Vec<bool>,
}

impl<'m> Steiner<'m> {
    /// Creates the problem over the arcs that are `allowed`; `None` if some worker cannot be reached.
    pub fn new(model: &'m Model<'m>, root: NodeIx, allowed: impl Fn(Arc) -> bool) -> Option<Self> {
        let allowed = (0..model.arcs() as Arc).map(allowed).collect();
        let is_terminal = vec![false; model.topology.nodes().len()];
        let mut steiner =
            Steiner { model, root, leaves: Vec::new(), terminals: Vec::new(), allowed, is_terminal };
        for &worker in &model.workers {
            let (arc, switch) = steiner.arcs_in(worker).next()?;
            let has_one = model.arcs_in(worker).len() == 1;
            if has_one {
                steiner.leaves.push(arc);
            }
            let terminal = if has_one { switch } else { worker };
            if terminal != root && !std::mem::replace(&mut steiner.is_terminal[terminal as usize], true) {
                steiner.terminals.push(terminal);
            }
        }
        let reached = steiner.reached(|_| true);
        steiner.terminals.iter().all(|&terminal| reached[terminal as usize]).then_some(steiner)
    }

    /// Creates a problem for every server of a job, over all trees that its plans may have; none if results
    /// do not count.
    pub fn of_job(router: &Router<'m>) -> Vec<Self> {
        Steiner::all(router.model, &router.widest().trees)
    }

    /// Creates these problems, given the trees.
    pub fn all(model: &'m Model<'m>, trees: &Trees<'m>) -> Vec<Self> {
        if !model.counts_results() {
            return Vec::new();
        }
        let of_server = |(s, &server)| Steiner::new(model, server, |arc| trees.allows(s, arc));
        let all: Option<_> = model.servers.iter().enumerate().map(of_server).collect();
        all.unwrap_or_default()
    }

    /// Returns whether plans may have an arc in this tree.
    pub fn allows(&self, arc: Arc) -> bool {
        self.allowed[arc as usize]
    }

    /// Returns whether results must reach this node.
    pub fn is_terminal(&self, node: NodeIx) -> bool {
        self.is_terminal[node as usize]
    }

    /// Returns the arcs into a node over which results can arrive, with their tails.
    pub fn arcs_in(&self, node: NodeIx) -> impl Iterator<Item = (Arc, NodeIx)> + use<'_, 'm> {
        let through = |from: NodeIx| from == self.root || self.model.forwards(from);
        let usable = move |&(arc, from): &(Arc, NodeIx)| self.allowed[arc as usize] && through(from);
        self.model.arcs_in(node).iter().copied().filter(usable)
    }

    /// Arcs out of a node over which results can go on to a switch or terminal, with the node they go to.
    pub fn arcs_out(&self, node: NodeIx) -> impl Iterator<Item = (Arc, NodeIx)> + use<'_, 'm> {
        let on = |to: NodeIx| to != self.root && (self.model.forwards(to) || self.is_terminal[to as usize]);
        let leads = node == self.root || self.model.forwards(node);
        let usable = move |&(arc, to): &(Arc, NodeIx)| leads && self.allowed[arc as usize] && on(to);
        self.model.arcs_out(node).iter().copied().filter(usable)
    }

    /// Returns the arcs that a tree may have besides its leaves.
    pub fn arcs(&self) -> impl Iterator<Item = Arc> + use<'_, 'm> {
        let nodes = 0..self.model.topology.nodes().len() as NodeIx;
        nodes.flat_map(|node| self.arcs_out(node).map(|(arc, _)| arc))
    }

    /// Returns by node whether it is reached from the root over `usable` arcs.
    pub fn reached(&self, usable: impl Fn(Arc) -> bool) -> Vec<bool> {
        let mut reached = vec![false; self.model.topology.nodes().len()];
        reached[self.root as usize] = true;
        let mut open = vec![self.root];
        while let Some(node) = open.pop() {
            for (_, to) in self.arcs_out(node).filter(|&(arc, _)| usable(arc)) {
                if !std::mem::replace(&mut reached[to as usize], true) {
                    open.push(to);
                }
            }
        }
        reached
    }
}
