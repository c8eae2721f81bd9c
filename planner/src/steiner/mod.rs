//! Trees of results as Steiner arborescences: from a server over switches to all workers of its job.
//!
//! Every link direction of the tree of server s carries each result once, so F_s, however many workers are behind it. The least
//! cost of a tree at given link prices is what the bounds need; it is NP-hard to find. [`ascent`] bounds it from below, and
//! [`flow`] separates its cut relaxation: of every set of nodes with the server and without some worker, F_s leaves.

mod ascent;
mod even;
mod flow;

pub(crate) use ascent::Ascent;
pub(crate) use even::even_loads;
pub(crate) use flow::Flow;

use crate::model::{Arc, Model, NodeIx};

/// What the tree of one server has to reach.
#[derive(Clone)]
pub(crate) struct Steiner<'m> {
    pub model: &'m Model<'m>,
    /// The server.
    pub root: NodeIx,
    /// Arcs into workers that have no other: they are in every tree.
    pub leaves: Vec<Arc>,
    /// Where the tree has to get besides: the switches of those workers, and workers on several switches.
    pub terminals: Vec<NodeIx>,
}

impl<'m> Steiner<'m> {
    /// `None` if some worker cannot be reached.
    pub fn new(model: &'m Model<'m>, root: NodeIx) -> Option<Self> {
        let mut steiner = Steiner { model, root, leaves: Vec::new(), terminals: Vec::new() };
        for &worker in &model.workers {
            let mut into = steiner.arcs_in(worker);
            let (first, second) = (into.next(), into.next());
            drop(into);
            let terminal = match (first?, second) {
                ((arc, switch), None) => {
                    steiner.leaves.push(arc);
                    switch
                }
                _ => worker,
            };
            if terminal != root && !steiner.terminals.contains(&terminal) {
                steiner.terminals.push(terminal);
            }
        }
        let reached = steiner.reached(|_| true);
        steiner.terminals.iter().all(|&terminal| reached[terminal as usize]).then_some(steiner)
    }

    /// One for every server of a job; `None` if some worker cannot be reached from one of them.
    pub fn of_job(model: &'m Model<'m>) -> Option<Vec<Self>> {
        model.servers.iter().map(|&server| Steiner::new(model, server)).collect()
    }

    /// Arcs into a node over which results can come, with the node they come from.
    pub fn arcs_in(&self, node: NodeIx) -> impl Iterator<Item = (Arc, NodeIx)> + use<'_, 'm> {
        let through = |from: NodeIx| from == self.root || self.model.forwards(from);
        self.model.arcs_in(node).iter().copied().filter(move |&(_, from)| through(from))
    }

    /// Arcs out of a node over which results can go on to a switch or terminal, with the node they go to.
    pub fn arcs_out(&self, node: NodeIx) -> impl Iterator<Item = (Arc, NodeIx)> + use<'_, 'm> {
        let on = |to: NodeIx| to != self.root && (self.model.forwards(to) || self.terminals.contains(&to));
        let leads = node == self.root || self.model.forwards(node);
        self.model.arcs_out(node).iter().copied().filter(move |&(_, to)| leads && on(to))
    }

    /// By node, whether it is reached from the root over `usable` arcs.
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

#[cfg(test)]
mod tests;
