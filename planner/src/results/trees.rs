//! Grows trees of results: from a server, each time to the worker that is nearest to the tree so far as costs have it.
//!
//! That is the heuristic of Takahashi and Matsuyama (1980) for the cheapest tree to given nodes (Steiner's): at most twice as dear
//! as the cheapest where links cost the same both ways. One run of Dijkstra's algorithm per tree does it: what joins the tree
//! starts again at no cost.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::rc::Rc;

use crate::model::{Arc, Model, NodeIx};
use crate::routes::{FAR, Rule};

/// The arcs of one server's tree, parents before children.
pub(crate) type Tree = Rc<[Arc]>;

/// The trees that a plan may have: over switches with capacity left, by the fewest hops unless any path will do.
pub(crate) struct Trees<'m> {
    model: &'m Model<'m>,
    rule: Rule,
    /// By server: hops from it, where the fewest are asked for.
    depths: Vec<OnceCell<Box<[u16]>>>,
    /// Arcs between a host with several links and the network, other than by its first link.
    second: OnceCell<Box<[bool]>>,
}

/// What growing a tree knows of a node.
#[derive(Clone, Copy)]
struct Reached {
    cost: f64,
    hops: u16,
    last: Arc,
    in_tree: bool,
    is_worker: bool,
}

impl<'m> Trees<'m> {
    pub fn new(model: &'m Model<'m>, rule: Rule) -> Self {
        Trees { model, rule, depths: vec![OnceCell::new(); model.servers.len()], second: OnceCell::new() }
    }

    /// Whether an arc is one of a host's further links, which the controller does not install.
    pub fn is_second(&self, arc: Arc) -> bool {
        let second = self.second.get_or_init(|| {
            let model = self.model;
            let mut second = vec![false; model.arcs()];
            for &host in model.servers.iter().chain(&model.workers) {
                for &(arc, _) in model.arcs_built(host).iter().skip(1) {
                    second[arc as usize] = true;
                    second[arc as usize ^ 1] = true;
                }
            }
            second.into()
        });
        second[arc as usize]
    }

    /// Whether an arc may be in a tree of server `s`.
    pub fn allows(&self, s: usize, arc: Arc) -> bool {
        self.rule == Rule::Any || leads_away(self.depths(s), self.model.tail(arc), self.model.head(arc))
    }

    /// Hops from server `s`, whatever traffic there is if that is the rule.
    fn depths(&self, s: usize) -> &[u16] {
        self.depths[s].get_or_init(|| {
            let from = self.model.servers[s];
            if self.rule == Rule::Built {
                return self.hops_from(from, |node| self.model.arcs_built(node), |_| true);
            }
            let first = self.hops_from(from, |node| self.model.arcs_out(node), |arc| !self.is_second(arc));
            if self.model.workers.iter().all(|&worker| first[worker as usize] != FAR) {
                return first;
            }
            self.hops_from(from, |node| self.model.arcs_out(node), |_| true)
        })
    }

    fn hops_from(
        &self,
        root: NodeIx,
        arcs: impl Fn(NodeIx) -> &'m [(Arc, NodeIx)],
        usable: impl Fn(Arc) -> bool,
    ) -> Box<[u16]> {
        let mut hops = vec![FAR; self.model.topology.nodes().len()];
        hops[root as usize] = 0;
        let mut queue = VecDeque::from([root]);
        while let Some(node) = queue.pop_front() {
            if node == root || self.model.forwards(node) {
                for &(arc, next) in arcs(node) {
                    if hops[next as usize] == FAR && usable(arc) {
                        hops[next as usize] = hops[node as usize] + 1;
                        queue.push_back(next);
                    }
                }
            }
        }
        hops.into()
    }

    /// Grows `kept` (a part of a tree of server `s`, parents before children) to a tree to all workers of the job, by arcs that
    /// cost as little as may be (never less than 0).
    ///
    /// # Errors
    /// A worker that no tree comes to.
    pub fn grow(&self, s: usize, kept: &[Arc], cost: impl Fn(Arc) -> f64) -> Result<Tree, NodeIx> {
        let model = self.model;
        let depths = if self.rule == Rule::Any { None } else { Some(self.depths(s)) };
        let may_pass = |from, to| depths.is_none_or(|depths| leads_away(depths, from, to));
        let unknown = Reached { cost: f64::INFINITY, hops: FAR, last: 0, in_tree: false, is_worker: false };
        let mut nodes = vec![unknown; model.topology.nodes().len()];
        model.workers.iter().for_each(|&worker| nodes[worker as usize].is_worker = true);
        let mut missing = model.workers.len();
        let mut open = BinaryHeap::new();
        let mut join = |node: NodeIx, nodes: &mut [Reached], open: &mut BinaryHeap<_>| {
            let of = &mut nodes[node as usize];
            (of.cost, of.hops, of.in_tree) = (0.0, 0, true);
            if of.is_worker {
                missing -= 1
            } else {
                open.push(Reverse((0u64, 0u16, node)))
            }
            missing
        };
        let mut tree: Vec<Arc> = kept.to_vec();
        let mut missing = join(model.servers[s], &mut nodes, &mut open);
        for &arc in kept {
            missing = join(model.head(arc), &mut nodes, &mut open);
        }
        while missing > 0 {
            let Some(Reverse((bits, hops, node))) = open.pop() else { break };
            let here = nodes[node as usize];
            let so_far = f64::from_bits(bits);
            if (so_far, hops) > (here.cost, here.hops) || here.is_worker && here.in_tree {
                continue;
            }
            if here.is_worker {
                let start = tree.len();
                let mut at = node;
                while !nodes[at as usize].in_tree {
                    let last = nodes[at as usize].last;
                    missing = join(at, &mut nodes, &mut open);
                    tree.push(last);
                    at = model.tail(last);
                }
                tree[start..].reverse();
                continue;
            }
            for &(arc, next) in model.arcs_out(node) {
                let ahead = &mut nodes[next as usize];
                if ahead.in_tree || !(ahead.is_worker || model.forwards(next)) || !may_pass(node, next) {
                    continue;
                }
                let reached = (so_far + cost(arc).max(0.0) + 0.0, hops + 1);
                if reached < (ahead.cost, ahead.hops) {
                    (ahead.cost, ahead.hops, ahead.last) = (reached.0, reached.1, arc);
                    open.push(Reverse((reached.0.to_bits(), reached.1, next)));
                }
            }
        }
        match model.workers.iter().find(|&&worker| !nodes[worker as usize].in_tree) {
            Some(&worker) => Err(worker),
            None => Ok(tree.into()),
        }
    }
}

/// Whether `to` is one hop farther away than `from`.
fn leads_away(depths: &[u16], from: NodeIx, to: NodeIx) -> bool {
    let (near, far) = (depths[from as usize], depths[to as usize]);
    near != FAR && far != FAR && far == near + 1
}
