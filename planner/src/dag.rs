//! All shortest paths that leave one node, or that lead to it, as flat lists in order of distance: one pass over them finds
//! the cheapest for every other end at once.

use std::cell::OnceCell;
use std::collections::VecDeque;

use crate::model::{Arc, Model, NodeIx};

/// The shortest paths from a root, or (inward) to it.
pub(crate) struct Dag {
    root: NodeIx,
    /// Every other node, nearest first, and the end of its steps.
    nodes: Box<[(NodeIx, u32)]>,
    /// The last steps of all paths between the root and each node.
    steps: Box<[Step]>,
}

struct Step {
    near: NodeIx,
    arc: Arc,
}

/// What the cheapest path between the root and every node costs, and the step that ends it.
#[derive(Debug, Default)]
pub(crate) struct Costs {
    of: Vec<f64>,
    last: Vec<u32>,
}

impl Costs {
    /// Infinite where there is no path.
    pub fn of(&self, node: NodeIx) -> f64 {
        self.of[node as usize]
    }
}

impl Dag {
    /// Hosts never forward; of those, only the nodes that `ends` names are led to.
    fn new(model: &Model<'_>, root: NodeIx, inward: bool, ends: &[NodeIx]) -> Self {
        let mut hops = vec![u32::MAX; model.topology.nodes().len()];
        hops[root as usize] = 0;
        let (mut nodes, mut steps) = (Vec::new(), Vec::new());
        let mut queue = VecDeque::from([root]);
        while let Some(node) = queue.pop_front() {
            let here = hops[node as usize];
            if node == root || model.forwards(node) {
                for &(_, far) in if inward { model.arcs_in(node) } else { model.arcs_out(node) } {
                    if hops[far as usize] == u32::MAX && (model.forwards(far) || ends.contains(&far)) {
                        hops[far as usize] = here + 1;
                        queue.push_back(far);
                    }
                }
            }
            if node != root {
                let back = if inward { model.arcs_out(node) } else { model.arcs_in(node) }.iter();
                let nearer =
                    |near: NodeIx| hops[near as usize] != u32::MAX && hops[near as usize] + 1 == here;
                let through = |near: NodeIx| near == root || model.forwards(near);
                let last = back.filter(|&&(_, near)| nearer(near) && through(near));
                steps.extend(last.map(|&(arc, near)| Step { near, arc }));
                nodes.push((node, steps.len() as u32));
            }
        }
        Dag { root, nodes: nodes.into(), steps: steps.into() }
    }

    /// Prices all paths of a model with `nodes` nodes at `prices` per arc.
    pub fn price(&self, prices: &[f64], costs: &mut Costs, nodes: usize) {
        costs.of.clear();
        costs.of.resize(nodes, f64::INFINITY);
        costs.last.resize(nodes, 0);
        costs.of[self.root as usize] = 0.0;
        let mut start = 0;
        for &(node, end) in &self.nodes {
            let (mut least, mut last) = (f64::INFINITY, start);
            for (at, step) in (start..).zip(&self.steps[start as usize..end as usize]) {
                let cost = costs.of[step.near as usize] + prices[step.arc as usize];
                (least, last) = if cost < least { (cost, at) } else { (least, last) };
            }
            costs.of[node as usize] = least;
            costs.last[node as usize] = last;
            start = end;
        }
    }

    /// Appends the arcs of the cheapest path between the root and `far`, the farthest first.
    pub fn trace(&self, costs: &Costs, far: NodeIx, path: &mut Vec<Arc>) {
        let mut node = far;
        while node != self.root {
            let step = &self.steps[costs.last[node as usize] as usize];
            path.push(step.arc);
            node = step.near;
        }
    }
}

/// The lists of a model, made when first asked for.
pub(crate) struct Dags<'m> {
    model: &'m Model<'m>,
    outward: Vec<OnceCell<Dag>>,
    inward: Vec<OnceCell<Dag>>,
}

impl<'m> Dags<'m> {
    pub fn new(model: &'m Model<'m>) -> Self {
        let none = || model.topology.nodes().iter().map(|_| OnceCell::new()).collect();
        Dags { model, outward: none(), inward: none() }
    }

    /// From `root` to every switch and the job's servers.
    pub fn from(&self, root: NodeIx) -> &Dag {
        self.outward[root as usize].get_or_init(|| Dag::new(self.model, root, false, &self.model.servers))
    }

    /// From every switch and the job's workers to `root`.
    pub fn to(&self, root: NodeIx) -> &Dag {
        self.inward[root as usize].get_or_init(|| Dag::new(self.model, root, true, &self.model.workers))
    }
}
