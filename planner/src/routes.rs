//! P: the shortest paths between two nodes over switches (hosts never forward).

use std::cell::OnceCell;
use std::rc::Rc;

use crate::model::{Arc, Model, NodeIx};

/// Hop count of a node that cannot be reached.
pub(crate) const FAR: u16 = u16::MAX;

/// The arcs of one path, in order. Placements are copied far more often than paths change.
pub(crate) type Path = Rc<[Arc]>;

/// Hop counts to destinations, computed once each.
pub(crate) struct Routes<'m> {
    model: &'m Model<'m>,
    towards: Vec<OnceCell<Box<[u16]>>>,
}

impl<'m> Routes<'m> {
    pub fn new(model: &'m Model<'m>) -> Self {
        Routes { model, towards: vec![OnceCell::new(); model.topology.nodes().len()] }
    }

    /// Hops from every node to `to`; [`FAR`] where there is no route.
    pub fn hops_to(&self, to: NodeIx) -> &[u16] {
        self.towards[to as usize].get_or_init(|| {
            let mut hops = vec![FAR; self.towards.len()];
            hops[to as usize] = 0;
            let mut reached = Vec::with_capacity(hops.len());
            reached.push(to);
            let mut next = 0;
            while let Some(&node) = reached.get(next) {
                next += 1;
                if node != to && !self.model.forwards(node) {
                    continue;
                }
                let farther = hops[node as usize] + 1;
                for &(_, before) in self.model.arcs_in(node) {
                    if hops[before as usize] == FAR {
                        hops[before as usize] = farther;
                        reached.push(before);
                    }
                }
            }
            hops.into()
        })
    }

    pub fn hops(&self, from: NodeIx, to: NodeIx) -> u16 {
        self.hops_to(to)[from as usize]
    }

    /// The arcs that lead from `node` one hop closer on a shortest path, given [`Routes::hops_to`] the destination.
    pub fn closer<'s>(&'s self, node: NodeIx, hops: &'s [u16]) -> impl Iterator<Item = (Arc, NodeIx)> + 's {
        let here = hops[node as usize];
        let onward = move |next: NodeIx| hops[next as usize] != FAR && hops[next as usize] + 1 == here;
        self.model
            .arcs_out(node)
            .iter()
            .copied()
            .filter(move |&(_, next)| onward(next) && (hops[next as usize] == 0 || self.model.forwards(next)))
    }

    /// The shortest path with the least sum of `cost` over its arcs; `None` if there is no route.
    pub fn cheapest(&self, from: NodeIx, to: NodeIx, cost: impl Fn(Arc) -> f64) -> Option<Path> {
        let hops = self.hops_to(to);
        let length = hops[from as usize];
        if length == FAR {
            return None;
        }
        // Layer by layer from the start: (node, cost so far, position in the layer before, arc taken).
        let mut layers: Vec<Vec<(NodeIx, f64, usize, Arc)>> = vec![vec![(from, 0.0, 0, 0)]];
        for _ in 0..length {
            let mut next: Vec<(NodeIx, f64, usize, Arc)> = Vec::new();
            let mut place = rustc_hash::FxHashMap::default();
            for (position, &(node, so_far, ..)) in layers.last().expect("never empty").iter().enumerate() {
                for (arc, ahead) in self.closer(node, hops) {
                    let total = so_far + cost(arc);
                    let at = *place.entry(ahead).or_insert_with(|| {
                        next.push((ahead, f64::INFINITY, 0, 0));
                        next.len() - 1
                    });
                    if total < next[at].1 || next[at].1 == f64::INFINITY {
                        next[at] = (ahead, total, position, arc);
                    }
                }
            }
            layers.push(next);
        }
        let mut path = vec![0; length as usize];
        let mut position = 0;
        for (step, layer) in layers.iter().enumerate().skip(1).rev() {
            let (_, _, before, arc) = layer[position];
            path[step - 1] = arc;
            position = before;
        }
        Some(path.into())
    }

    /// Up to `limit` shortest paths, spread over all there are: the n-th takes the n-th way at every branch, in
    /// mixed-radix order. Empty if there is no route.
    pub fn some_paths(&self, from: NodeIx, to: NodeIx, limit: usize) -> Vec<Path> {
        let hops = self.hops_to(to);
        if hops[from as usize] == FAR {
            return Vec::new();
        }
        let mut paths: Vec<Path> = Vec::new();
        for n in 0..4 * limit {
            let (mut digits, mut node, mut path) =
                (n, from, Vec::with_capacity(hops[from as usize] as usize));
            while node != to {
                let ways: Vec<_> = self.closer(node, hops).collect();
                let (arc, ahead) = ways[digits % ways.len()];
                digits /= ways.len();
                path.push(arc);
                node = ahead;
            }
            // A number with digits left over names no path of its own.
            if digits == 0 && paths.len() < limit {
                paths.push(path.into());
            }
        }
        paths
    }
}
