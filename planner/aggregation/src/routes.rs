//! P: the paths between two nodes over switches (hosts never forward).

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

use crate::model::{Arc, Model, NodeIx};

/// Hop count of a node that cannot be reached.
pub(crate) const FAR: u16 = u16::MAX;

/// The arcs of one path, in order. Placements are copied far more often than paths change.
pub(crate) type Path = Rc<[Arc]>;

/// Rule for allowed paths. None uses a link without available capacity in its direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Paths with the fewest hops in the network as built: if a link on all of them is full, none exists.
    Built,
    /// Paths with the fewest hops over links with available capacity.
    Left,
    /// Every simple path.
    Any,
}

/// Limit on the steps of [`Routes::all_paths`] for one pair of nodes.
const LOOKS: usize = 200_000;

/// Hop counts to destinations, computed once each.
pub(crate) struct Routes<'m> {
    model: &'m Model<'m>,
    rule: Rule,
    towards: Vec<OnceCell<Box<[u16]>>>,
}

impl<'m> Routes<'m> {
    pub fn new(model: &'m Model<'m>, rule: Rule) -> Self {
        Routes { model, rule, towards: vec![OnceCell::new(); model.topology.nodes().len()] }
    }

    /// Returns the fewest hops from every node to `to`; [`FAR`] without a route.
    pub fn hops_to(&self, to: NodeIx) -> &[u16] {
        self.towards[to as usize].get_or_init(|| {
            let model = self.model;
            let mut hops = vec![FAR; self.towards.len()];
            hops[to as usize] = 0;
            let mut reached = Vec::with_capacity(hops.len());
            reached.push(to);
            let mut next = 0;
            while let Some(&node) = reached.get(next) {
                next += 1;
                if node != to && !model.forwards(node) {
                    continue;
                }
                let farther = hops[node as usize] + 1;
                for &(_, before) in
                    if self.rule == Rule::Built { model.arcs_built(node) } else { model.arcs_in(node) }
                {
                    if hops[before as usize] == FAR {
                        hops[before as usize] = farther;
                        reached.push(before);
                    }
                }
            }
            if self.rule == Rule::Built {
                // Nearest first: a node with only full links ahead leads nowhere.
                for &node in &reached[1..] {
                    if self.closer(node, &hops).next().is_none() {
                        hops[node as usize] = FAR;
                    }
                }
            }
            hops.into()
        })
    }

    pub fn hops(&self, from: NodeIx, to: NodeIx) -> u16 {
        self.hops_to(to)[from as usize]
    }

    /// Returns the arcs from `node` one hop closer on a shortest path, given [`Routes::hops_to`] the
    /// destination.
    pub fn closer<'s>(&'s self, node: NodeIx, hops: &'s [u16]) -> impl Iterator<Item = (Arc, NodeIx)> + 's {
        let here = hops[node as usize];
        let onward = move |next: NodeIx| hops[next as usize] != FAR && hops[next as usize] + 1 == here;
        self.model
            .arcs_out(node)
            .iter()
            .copied()
            .filter(move |&(_, next)| onward(next) && (hops[next as usize] == 0 || self.model.forwards(next)))
    }

    /// Returns the path with the least sum of `cost` (never negative) over its arcs; `None` without a route.
    pub fn cheapest(&self, from: NodeIx, to: NodeIx, cost: impl Fn(Arc) -> f64) -> Option<Path> {
        if self.rule == Rule::Any {
            return self.cheapest_of_all(from, to, cost);
        }
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

    /// Dijkstra's algorithm; of paths that cost the same, one with the fewest hops.
    fn cheapest_of_all(&self, from: NodeIx, to: NodeIx, cost: impl Fn(Arc) -> f64) -> Option<Path> {
        let model = self.model;
        let mut known: Vec<(f64, u16, Arc)> = vec![(f64::INFINITY, FAR, 0); self.towards.len()];
        known[from as usize] = (0.0, 0, 0);
        let mut open = BinaryHeap::from([Reverse((0, 0, from))]);
        while let Some(Reverse((bits, hops, node))) = open.pop() {
            let so_far = f64::from_bits(bits);
            if node == to {
                let mut path = Vec::with_capacity(hops as usize);
                let mut node = to;
                while node != from {
                    path.push(known[node as usize].2);
                    node = model.tail(known[node as usize].2);
                }
                path.reverse();
                return Some(path.into());
            }
            if (so_far, hops) > (known[node as usize].0, known[node as usize].1)
                || node != from && !model.forwards(node)
            {
                continue;
            }
            for &(arc, ahead) in model.arcs_out(node) {
                let next = (so_far + cost(arc).max(0.0) + 0.0, hops + 1);
                let (least, fewest, _) = known[ahead as usize];
                if next < (least, fewest) {
                    known[ahead as usize] = (next.0, next.1, arc);
                    open.push(Reverse((next.0.to_bits(), next.1, ahead)));
                }
            }
        }
        None
    }

    /// Returns all paths over `usable` arcs, the shortest first; `None` if there are more than `limit`, or
    /// the search is too large.
    pub fn all_paths(
        &self,
        from: NodeIx,
        to: NodeIx,
        limit: usize,
        usable: &dyn Fn(Arc) -> bool,
    ) -> Option<Vec<Path>> {
        let hops = self.hops_to(to);
        if hops[from as usize] == FAR {
            return Some(Vec::new());
        }
        let most = if self.rule == Rule::Any { u16::MAX } else { hops[from as usize] };
        let mut hunt = Hunt {
            routes: self,
            to,
            hops,
            usable,
            most,
            limit,
            looks: LOOKS,
            path: Vec::new(),
            found: Vec::new(),
        };
        let mut passed = vec![false; hops.len()];
        hunt.from(from, &mut passed)?;
        let mut found = hunt.found;
        found.sort_by_key(|path| path.len());
        Some(found)
    }

    /// Returns up to `limit` paths. First shortest ones, spread evenly: the n-th takes the n-th arc at every
    /// branch, in mixed-radix order; then (if any path is allowed) the shortest of the others. Empty without
    /// a route.
    pub fn some_paths(&self, from: NodeIx, to: NodeIx, limit: usize) -> Vec<Path> {
        let mut paths = self.some_shortest(from, to, limit);
        if self.rule == Rule::Any && !paths.is_empty() {
            let hops = self.hops_to(to);
            let shortest = hops[from as usize];
            for most in shortest + 1..=shortest + 3 {
                if paths.len() >= limit {
                    break;
                }
                let mut hunt = Hunt {
                    routes: self,
                    to,
                    hops,
                    usable: &|_| true,
                    most,
                    limit: 4 * limit,
                    looks: 50 * limit,
                    path: Vec::new(),
                    found: Vec::new(),
                };
                // The paths found before the search aborts suffice.
                let _ = hunt.from(from, &mut vec![false; hops.len()]);
                let longer = hunt.found.into_iter().filter(|path| path.len() == usize::from(most));
                paths.extend(longer.take(limit - paths.len()).collect::<Vec<_>>());
            }
        }
        paths
    }

    fn some_shortest(&self, from: NodeIx, to: NodeIx, limit: usize) -> Vec<Path> {
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
            // A number with remaining digits names no new path.
            if digits == 0 && paths.len() < limit {
                paths.push(path.into());
            }
        }
        paths
    }
}

/// A depth-first search for all simple paths to one node with a limited number of hops.
struct Hunt<'h, 'm> {
    routes: &'h Routes<'m>,
    to: NodeIx,
    hops: &'h [u16],
    usable: &'h dyn Fn(Arc) -> bool,
    most: u16,
    limit: usize,
    looks: usize,
    path: Vec<Arc>,
    found: Vec<Path>,
}

impl Hunt<'_, '_> {
    /// Follows every arc from the end of the path so far; `None` if the search is too large.
    fn from(&mut self, node: NodeIx, passed: &mut [bool]) -> Option<()> {
        if node == self.to {
            if self.found.len() >= self.limit {
                return None;
            }
            self.found.push(self.path.as_slice().into());
            return Some(());
        }
        passed[node as usize] = true;
        let model = self.routes.model;
        for &(arc, ahead) in model.arcs_out(node) {
            self.looks = self.looks.checked_sub(1)?;
            let left = self.hops[ahead as usize];
            let open = ahead == self.to || model.forwards(ahead) && !passed[ahead as usize];
            let near = left != FAR && self.path.len() + 1 + usize::from(left) <= usize::from(self.most);
            if open && near && (self.usable)(arc) {
                self.path.push(arc);
                self.from(ahead, passed)?;
                self.path.pop();
            }
        }
        passed[node as usize] = false;
        Some(())
    }
}
