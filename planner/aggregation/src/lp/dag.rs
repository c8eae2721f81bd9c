//! Paths to one destination as an acyclic graph, all shortest ones or all cheapest ones: costs per unit from
//! every node at given link prices, and the split of flows.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use crate::model::{Arc, Model, NodeIx};
use crate::routes::{FAR, Routes};

/// Largest difference of costs of two equally good paths; prices are of the order of 1 in sum.
const TIE: f64 = 1e-9;

/// Paths from some nodes to one destination, such that every arc leads closer to it.
pub(crate) struct Dag {
    /// Destination.
    pub to: NodeIx,
    /// Index of each node on those paths; nearest first, so the destination has index 0.
    position: FxHashMap<NodeIx, u32>,
    /// First arc of each node by position, and the end.
    first: Vec<u32>,
    /// Arcs that lead closer, with the index of their head.
    arcs: Vec<(Arc, u32)>,
}

impl Dag {
    /// The shortest paths to `to` from those of `sources` that have one.
    pub fn new(routes: &Routes<'_>, to: NodeIx, sources: impl Iterator<Item = NodeIx>) -> Self {
        let hops = routes.hops_to(to);
        let mut open: Vec<NodeIx> = sources.filter(|&node| hops[node as usize] != FAR).collect();
        open.push(to);
        let mut seen: rustc_hash::FxHashSet<NodeIx> = open.iter().copied().collect();
        let mut nodes: Vec<NodeIx> = seen.iter().copied().collect();
        while let Some(node) = open.pop() {
            for (_, ahead) in routes.closer(node, hops) {
                if seen.insert(ahead) {
                    nodes.push(ahead);
                    open.push(ahead);
                }
            }
        }
        nodes.sort_unstable_by_key(|&node| (hops[node as usize], node));
        let position: FxHashMap<NodeIx, u32> = nodes.iter().copied().zip(0..).collect();
        let (mut first, mut arcs) = (vec![0], Vec::new());
        for &node in &nodes {
            arcs.extend(routes.closer(node, hops).map(|(arc, ahead)| (arc, position[&ahead])));
            first.push(arcs.len() as u32);
        }
        Dag { to, position, first, arcs }
    }

    /// Returns the paths to `to` that are cheapest at a price per unit on each link (of those with equal
    /// costs, the ones with the fewest hops), and the costs from every index.
    pub fn cheapest(model: &Model<'_>, to: NodeIx, price: &[f64]) -> (Self, Vec<f64>) {
        let mut known = vec![(f64::INFINITY, u32::MAX); model.topology.nodes().len()];
        known[to as usize] = (0.0, 0);
        let mut open = BinaryHeap::from([Reverse((0, 0, to))]);
        let mut nodes: Vec<NodeIx> = Vec::new();
        while let Some(Reverse((bits, hops, node))) = open.pop() {
            let here = f64::from_bits(bits);
            if (here, hops) > known[node as usize] {
                continue;
            }
            nodes.push(node);
            if node != to && !model.forwards(node) {
                continue;
            }
            for &(arc, before) in model.arcs_in(node) {
                let cost = here + price[arc as usize].max(0.0) + 0.0;
                if (cost, hops + 1) < known[before as usize] {
                    known[before as usize] = (cost, hops + 1);
                    open.push(Reverse((cost.to_bits(), hops + 1, before)));
                }
            }
        }
        nodes.sort_unstable_by_key(|&node| (known[node as usize].1, node));
        nodes.dedup();
        let position: FxHashMap<NodeIx, u32> = nodes.iter().copied().zip(0..).collect();
        let (mut first, mut arcs) = (vec![0], Vec::new());
        for &node in &nodes {
            let (cost, hops) = known[node as usize];
            let closer = |&&(arc, ahead): &&(Arc, NodeIx)| {
                let (beyond, left) = known[ahead as usize];
                let through = ahead == to || model.forwards(ahead);
                node != to && through && left < hops && price[arc as usize] + beyond <= cost + TIE
            };
            arcs.extend(
                model.arcs_out(node).iter().filter(closer).map(|&(arc, ahead)| (arc, position[&ahead])),
            );
            first.push(arcs.len() as u32);
        }
        let costs = nodes.iter().map(|&node| known[node as usize].0).collect();
        (Dag { to, position, first, arcs }, costs)
    }

    /// Returns the index of a node; `None` if it has no path to the destination.
    pub fn position(&self, node: NodeIx) -> Option<usize> {
        self.position.get(&node).map(|&position| position as usize)
    }

    fn arcs_of(&self, position: usize) -> std::ops::Range<usize> {
        self.first[position] as usize..self.first[position + 1] as usize
    }

    /// The cost of the cheapest path from every position, at a price per unit on each link.
    pub fn costs(&self, price: &[f64]) -> Vec<f64> {
        let mut costs = vec![0.0; self.first.len() - 1];
        for position in 1..costs.len() {
            let over = |&(arc, ahead): &(Arc, u32)| price[arc as usize] + costs[ahead as usize];
            costs[position] =
                self.arcs[self.arcs_of(position)].iter().map(over).fold(f64::INFINITY, f64::min);
        }
        costs
    }

    /// Returns the share of a node's outflow on each arc: over cheapest paths only, proportional to
    /// capacities.
    pub fn parts(&self, price: &[f64], costs: &[f64], capacity: &[f64]) -> Vec<f64> {
        let mut parts = vec![0.0; self.arcs.len()];
        for (position, &cost) in costs.iter().enumerate() {
            let range = self.arcs_of(position);
            let mut total = 0.0;
            for (part, &(arc, ahead)) in parts[range.clone()].iter_mut().zip(&self.arcs[range.clone()]) {
                if price[arc as usize] + costs[ahead as usize] <= cost + TIE {
                    *part = capacity[arc as usize];
                    total += *part;
                }
            }
            parts[range].iter_mut().for_each(|part| *part /= total);
        }
        parts
    }

    /// Sends the amount at each index of `amounts` to the destination and calls `carry` for every arc. All of
    /// `amounts` is zero afterwards.
    pub fn push(&self, parts: &[f64], amounts: &mut [f64], mut carry: impl FnMut(Arc, f64)) {
        for position in (1..self.first.len() - 1).rev() {
            let amount = std::mem::take(&mut amounts[position]);
            if amount > 0.0 {
                let range = self.arcs_of(position);
                for (&part, &(arc, ahead)) in parts[range.clone()].iter().zip(&self.arcs[range]) {
                    if part > 0.0 {
                        carry(arc, amount * part);
                        amounts[ahead as usize] += amount * part;
                    }
                }
            }
        }
        amounts[0] = 0.0;
    }

    /// Number of positions.
    pub fn len(&self) -> usize {
        self.first.len() - 1
    }
}
