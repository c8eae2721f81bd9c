//! Wong's dual ascent: a lower bound on the cost of a tree at given link prices, and a tree of nearly that
//! cost.
//!
//! Of the arcs into a set of nodes that contains a worker and not the server, every tree has one. So a set
//! may take up to the least remaining price of its arcs; the sum over all sets is at most the price of any
//! tree.

use super::problem::Steiner;
use crate::model::{Arc, NodeIx};

/// Remaining prices below this count as zero; prices are of the order of 1.
const NOTHING: f64 = 1e-13;

/// A dual ascent, with the remaining prices.
#[derive(Debug, Default)]
pub(crate) struct Ascent {
    left: Vec<f64>,
    /// Terminals not yet joined to the server, each with the number of arcs that entered its set last.
    active: Vec<(usize, NodeIx)>,
    is_active: Vec<bool>,
    seen: Vec<bool>,
    open: Vec<NodeIx>,
    entering: Vec<Arc>,
    cost: Vec<f64>,
    parent: Vec<Arc>,
}

impl Ascent {
    /// Returns a lower bound on the least cost of a tree at `price` per arc; negative prices count as zero.
    pub fn bound(&mut self, steiner: &Steiner<'_>, price: &[f64]) -> f64 {
        let (model, nodes) = (steiner.model, steiner.model.topology.nodes().len());
        self.left.clear();
        self.left.extend(price[..model.arcs()].iter().map(|price| price.max(0.0)));
        let mut total: f64 = steiner.leaves.iter().map(|&arc| self.left[arc as usize]).sum();
        self.seen.resize(nodes, false);
        self.is_active.clear();
        self.is_active.resize(nodes, false);
        self.active.clear();
        for &terminal in &steiner.terminals {
            self.active.push((0, terminal));
            self.is_active[terminal as usize] = true;
        }
        // Sets with the fewest entering arcs are first: they leave most to the others.
        while let Some((at, &(_, terminal))) = self.active.iter().enumerate().min_by_key(|(_, a)| **a) {
            match self.raise(steiner, terminal) {
                Some(least) => {
                    total += least;
                    self.active[at].0 = self.entering.len();
                }
                None => {
                    self.active.swap_remove(at);
                    self.is_active[terminal as usize] = false;
                }
            }
        }
        total
    }

    /// Raises the set of a terminal as far as possible; `None` if it contains the server, or another terminal
    /// that will be joined to it.
    fn raise(&mut self, steiner: &Steiner<'_>, terminal: NodeIx) -> Option<f64> {
        let Ascent { left, is_active, seen, open, entering, .. } = self;
        seen.fill(false);
        entering.clear();
        open.clear();
        open.push(terminal);
        seen[terminal as usize] = true;
        while let Some(node) = open.pop() {
            for (arc, from) in steiner.arcs_in(node) {
                if left[arc as usize] > NOTHING {
                    entering.push(arc);
                } else if !std::mem::replace(&mut seen[from as usize], true) {
                    if from == steiner.root || is_active[from as usize] {
                        return None;
                    }
                    open.push(from);
                }
            }
        }
        entering.retain(|&arc| !seen[steiner.model.tail(arc) as usize]);
        let least = entering.iter().map(|&arc| left[arc as usize]).fold(f64::INFINITY, f64::min);
        entering.iter().for_each(|&arc| left[arc as usize] -= least);
        least.is_finite().then_some(least)
    }

    /// Appends the arcs of a tree over links whose remaining price is zero after the last [`Ascent::bound`].
    pub fn tree(&mut self, steiner: &Steiner<'_>, price: &[f64], tree: &mut Vec<Arc>) {
        let model = steiner.model;
        tree.extend(&steiner.leaves);
        self.cost.clear();
        self.cost.resize(model.topology.nodes().len(), f64::INFINITY);
        self.parent.resize(self.cost.len(), 0);
        self.seen.fill(false);
        self.cost[steiner.root as usize] = 0.0;
        self.seen[steiner.root as usize] = true;
        self.open.clear();
        self.open.push(steiner.root);
        let mut missing = steiner.terminals.len();
        while missing > 0 {
            let nearest = (0..self.open.len()).min_by(|&a, &b| {
                self.cost[self.open[a] as usize].total_cmp(&self.cost[self.open[b] as usize])
            });
            let Some(at) = nearest else { return };
            let node = self.open.swap_remove(at);
            if !self.seen[node as usize] && steiner.is_terminal(node) {
                // Arcs in the tree cost nothing more.
                let mut joined = node;
                while !std::mem::replace(&mut self.seen[joined as usize], true) {
                    missing -= usize::from(steiner.is_terminal(joined));
                    self.cost[joined as usize] = 0.0;
                    self.open.push(joined);
                    tree.push(self.parent[joined as usize]);
                    joined = model.tail(self.parent[joined as usize]);
                }
                continue;
            }
            for (arc, to) in steiner.arcs_out(node) {
                let cost = self.cost[node as usize] + price[arc as usize].max(0.0);
                if self.left[arc as usize] <= NOTHING && cost < self.cost[to as usize] {
                    if !self.open.contains(&to) {
                        self.open.push(to);
                    }
                    self.cost[to as usize] = cost;
                    self.parent[to as usize] = arc;
                }
            }
        }
    }
}
