//! Trees of results over any paths: each time the worker joins that is nearest to the tree so far, as costs
//! have it.
//!
//! This is the heuristic of Takahashi and Matsuyama (1980) for the cheapest tree to given nodes (Steiner's
//! problem); if links cost the same in both directions, the cost of its tree is at most twice the optimum.
//! One run of Dijkstra's algorithm suffices: nodes that join the tree restart at cost 0.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::tree::Tree;
use crate::model::{Arc, Model, NodeIx};
use crate::routes::FAR;

/// State of a node while a tree grows.
#[derive(Clone, Copy)]
struct Reached {
    cost: f64,
    hops: u16,
    last: Arc,
    in_tree: bool,
    is_worker: bool,
}

struct Growth<'m> {
    model: &'m Model<'m>,
    nodes: Vec<Reached>,
    /// Cost (the bits of it), hops and node.
    open: BinaryHeap<Reverse<(u64, u16, NodeIx)>>,
    tree: Vec<Arc>,
    /// Workers that are not in the tree.
    missing: usize,
}

impl Growth<'_> {
    fn join(&mut self, node: NodeIx) {
        let of = &mut self.nodes[node as usize];
        (of.cost, of.hops, of.in_tree) = (0.0, 0, true);
        match of.is_worker {
            true => self.missing -= 1,
            false => self.open.push(Reverse((0, 0, node))),
        }
    }

    /// Adds a worker, with the nodes on its path.
    fn branch(&mut self, worker: NodeIx) {
        let (start, mut node) = (self.tree.len(), worker);
        while !self.nodes[node as usize].in_tree {
            let last = self.nodes[node as usize].last;
            self.join(node);
            self.tree.push(last);
            node = self.model.tail(last);
        }
        self.tree[start..].reverse();
    }

    /// Relaxes the links out of a node.
    fn look_ahead(&mut self, node: NodeIx, cost: &impl Fn(Arc) -> f64) {
        let Reached { cost: so_far, hops, .. } = self.nodes[node as usize];
        for &(arc, next) in self.model.arcs_out(node) {
            let ahead = &mut self.nodes[next as usize];
            if ahead.in_tree || !(ahead.is_worker || self.model.forwards(next)) {
                continue;
            }
            // Adding zero turns a negative zero into one whose bits are in order.
            let reached = (so_far + cost(arc).max(0.0) + 0.0, hops + 1);
            if reached < (ahead.cost, ahead.hops) {
                (ahead.cost, ahead.hops, ahead.last) = (reached.0, reached.1, arc);
                self.open.push(Reverse((reached.0.to_bits(), reached.1, next)));
            }
        }
    }
}

/// Grows `kept` from a server to a tree to all reachable workers.
pub(super) fn grow(model: &Model<'_>, server: NodeIx, kept: &[Arc], cost: impl Fn(Arc) -> f64) -> Tree {
    let unknown = Reached { cost: f64::INFINITY, hops: FAR, last: 0, in_tree: false, is_worker: false };
    let mut growth = Growth {
        model,
        nodes: vec![unknown; model.topology.nodes().len()],
        open: BinaryHeap::new(),
        tree: kept.to_vec(),
        missing: model.workers.len(),
    };
    model.workers.iter().for_each(|&worker| growth.nodes[worker as usize].is_worker = true);
    growth.join(server);
    kept.iter().for_each(|&arc| growth.join(model.head(arc)));
    while growth.missing > 0 {
        let Some(Reverse((bits, hops, node))) = growth.open.pop() else { break };
        let here = growth.nodes[node as usize];
        match here.is_worker {
            true if !here.in_tree => growth.branch(node),
            false if (f64::from_bits(bits), hops) == (here.cost, here.hops) => growth.look_ahead(node, &cost),
            _ => {}
        }
    }
    growth.tree.into()
}
