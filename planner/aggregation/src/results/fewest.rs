//! Trees of results over the fewest hops: two passes over flat lists in order of distance from the server.
//!
//! The first pass prices the cheapest path to every node. The second goes back from the farthest nodes: each
//! that leads to a worker takes the cheapest link into it, where nodes that the tree already has cost nothing
//! more.

use super::tree::Tree;
use crate::model::{Arc, Model, NodeIx};
use crate::routes::FAR;

/// All paths with the fewest hops from a server to the job's workers.
pub(super) struct Fewest {
    /// Nodes on them without the server, nearest first, and the end of each one's steps.
    nodes: Box<[(NodeIx, u32)]>,
    /// The last links to each node, with the position of the node before it; the server is at 0, the first of
    /// `nodes` at 1.
    steps: Box<[(u32, Arc)]>,
    /// Positions of the workers.
    workers: Box<[u32]>,
    /// Index of every node of the network; 0 if it is on no path.
    position: Box<[u32]>,
    /// Whether each arc is on a path.
    has: Box<[bool]>,
    /// A worker that no path reaches.
    pub unreached: Option<NodeIx>,
}

impl Fewest {
    /// `order`: nodes by distance from the server, itself first; `depths`: that distance; `usable`: arcs that
    /// may be taken.
    pub fn new(model: &Model<'_>, order: &[NodeIx], depths: &[u16], usable: impl Fn(Arc) -> bool) -> Self {
        let root = order[0];
        let last_steps = |node: NodeIx| {
            let (hops, usable) = (depths[node as usize], &usable);
            model.arcs_in(node).iter().copied().filter(move |&(arc, near)| {
                let near_hops = depths[near as usize];
                let leads_on = near == root || model.forwards(near);
                leads_on && near_hops != FAR && near_hops + 1 == hops && usable(arc)
            })
        };
        let mut reached = vec![false; depths.len()];
        reached[root as usize] = true;
        for &node in &order[1..] {
            reached[node as usize] = last_steps(node).any(|(_, near)| reached[near as usize]);
        }
        let unreached = model.workers.iter().copied().find(|&worker| !reached[worker as usize]);
        let mut needed = vec![false; depths.len()];
        model.workers.iter().for_each(|&worker| needed[worker as usize] = reached[worker as usize]);
        for &node in order[1..].iter().rev().filter(|&&node| reached[node as usize]) {
            if needed[node as usize] {
                last_steps(node).for_each(|(_, near)| needed[near as usize] |= reached[near as usize]);
            }
        }
        let mut position = vec![0; depths.len()];
        let (mut nodes, mut steps) = (Vec::new(), Vec::new());
        for &node in order[1..].iter().filter(|&&node| needed[node as usize]) {
            let near = last_steps(node).filter(|&(_, near)| reached[near as usize]);
            steps.extend(near.map(|(arc, near)| (position[near as usize], arc)));
            nodes.push((node, steps.len() as u32));
            position[node as usize] = nodes.len() as u32;
        }
        let workers = model.workers.iter().map(|&worker| position[worker as usize]);
        let workers = workers.filter(|&at| at != 0).collect();
        let mut has = vec![false; model.arcs()];
        steps.iter().for_each(|&(_, arc)| has[arc as usize] = true);
        let (nodes, steps, position, has) = (nodes.into(), steps.into(), position.into(), has.into());
        Fewest { nodes, steps, workers, position, has, unreached }
    }

    /// Returns whether an arc is on any of these paths.
    pub fn has(&self, arc: Arc) -> bool {
        self.has[arc as usize]
    }

    /// Grows `kept` to a tree to all workers.
    pub fn grow(&self, model: &Model<'_>, kept: &[Arc], cost: impl Fn(Arc) -> f64) -> Tree {
        #[derive(Clone, Copy)]
        struct Reached {
            cost: f64,
            in_tree: bool,
            needed: bool,
        }
        let none = Reached { cost: f64::INFINITY, in_tree: false, needed: false };
        let mut reached = vec![none; self.nodes.len() + 1];
        reached[0] = Reached { cost: 0.0, in_tree: true, needed: true };
        for &arc in kept {
            reached[self.position[model.head(arc) as usize] as usize].in_tree = true;
        }
        let costs: Vec<f64> = self.steps.iter().map(|&(_, arc)| cost(arc)).collect();
        let mut start = 0;
        for (at, &(_, end)) in (1..).zip(&self.nodes) {
            let here = match reached[at].in_tree {
                true => 0.0,
                false => (start..end as usize)
                    .map(|step| reached[self.steps[step].0 as usize].cost + costs[step])
                    .fold(f64::INFINITY, f64::min),
            };
            reached[at].cost = here;
            start = end as usize;
        }
        self.workers.iter().for_each(|&worker| reached[worker as usize].needed = true);
        let mut grown: Vec<Arc> = Vec::with_capacity(self.nodes.len());
        for at in (1..=self.nodes.len()).rev() {
            if !reached[at].needed || reached[at].in_tree {
                continue;
            }
            let start = if at > 1 { self.nodes[at - 2].1 } else { 0 };
            let (mut least, mut best) = (f64::INFINITY, start as usize);
            for step in start as usize..self.nodes[at - 1].1 as usize {
                let near = reached[self.steps[step].0 as usize];
                let total = costs[step] + if near.needed || near.in_tree { 0.0 } else { near.cost };
                (least, best) = if total < least { (total, step) } else { (least, best) };
            }
            let (near, arc) = self.steps[best];
            reached[near as usize].needed = true;
            grown.push(arc);
        }
        kept.iter().copied().chain(grown.into_iter().rev()).collect()
    }
}
