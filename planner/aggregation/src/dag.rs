//! Paths from or to one node, priced for every other end at once: shortest paths by one pass over flat lists
//! in order of distance, any paths by Dijkstra's algorithm.

use std::cell::OnceCell;
use std::collections::VecDeque;
use std::rc::Rc;

use crate::model::{Arc, Model, NodeIx};
use crate::routes::Rule;

/// The paths from a root, or (inward) to it.
pub(crate) struct Dag {
    root: NodeIx,
    paths: PathSet,
}

enum PathSet {
    Shortest {
        /// Every other node, nearest first, and the end of its steps.
        nodes: Box<[(NodeIx, u32)]>,
        /// The last steps of all paths between the root and each node.
        steps: Box<[Step]>,
    },
    Any {
        inward: bool,
        /// Role of each node in paths.
        roles: Rc<[Role]>,
    },
}

struct Step {
    near: NodeIx,
    arc: Arc,
}

/// Role of a node in paths.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Neither end nor transit.
    None,
    /// End of a path.
    End,
    /// All of it: a switch.
    Through,
}

/// Costs of the cheapest path between the root and every node, and its last step: an index among the steps,
/// or an arc.
#[derive(Debug, Default)]
pub(crate) struct Costs {
    of: Vec<f64>,
    last: Vec<u32>,
    open: Vec<NodeIx>,
}

impl Costs {
    /// Returns the cost of a node; infinite without a path.
    pub fn of(&self, node: NodeIx) -> f64 {
        self.of[node as usize]
    }
}

impl Dag {
    /// Creates the shortest paths. Hosts never forward; of them, only the nodes in `ends` are reached.
    /// `built`: hops count over all links, though only those with available capacity are used.
    fn shortest(model: &Model<'_>, root: NodeIx, inward: bool, ends: &[NodeIx], built: bool) -> Self {
        let mut hops = vec![u32::MAX; model.topology.nodes().len()];
        let mut reached = vec![false; hops.len()];
        hops[root as usize] = 0;
        reached[root as usize] = true;
        let (mut nodes, mut steps) = (Vec::new(), Vec::new());
        let mut queue = VecDeque::from([root]);
        while let Some(node) = queue.pop_front() {
            let here = hops[node as usize];
            if node == root || model.forwards(node) {
                let arcs = match (built, inward) {
                    (true, _) => model.arcs_built(node),
                    (false, true) => model.arcs_in(node),
                    (false, false) => model.arcs_out(node),
                };
                for &(_, far) in arcs {
                    if hops[far as usize] == u32::MAX && (model.forwards(far) || ends.contains(&far)) {
                        hops[far as usize] = here + 1;
                        queue.push_back(far);
                    }
                }
            }
            if node != root {
                let before = steps.len();
                let back = if inward { model.arcs_out(node) } else { model.arcs_in(node) }.iter();
                let nearer = |near: NodeIx| reached[near as usize] && hops[near as usize] + 1 == here;
                let through = |near: NodeIx| near == root || model.forwards(near);
                let last = back.filter(|&&(_, near)| nearer(near) && through(near));
                steps.extend(last.map(|&(arc, near)| Step { near, arc }));
                if steps.len() > before {
                    reached[node as usize] = true;
                    nodes.push((node, steps.len() as u32));
                }
            }
        }
        Dag { root, paths: PathSet::Shortest { nodes: nodes.into(), steps: steps.into() } }
    }

    /// Prices all paths at `prices` per arc, none of them negative.
    pub fn price(&self, model: &Model<'_>, prices: &[f64], costs: &mut Costs) {
        let nodes = model.topology.nodes().len();
        costs.of.clear();
        costs.of.resize(nodes, f64::INFINITY);
        costs.last.resize(nodes, 0);
        costs.of[self.root as usize] = 0.0;
        match &self.paths {
            PathSet::Shortest { nodes, steps } => {
                let mut start = 0;
                for &(node, end) in nodes {
                    let (mut least, mut last) = (f64::INFINITY, start);
                    for (at, step) in (start..).zip(&steps[start as usize..end as usize]) {
                        let cost = costs.of[step.near as usize] + prices[step.arc as usize];
                        (least, last) = if cost < least { (cost, at) } else { (least, last) };
                    }
                    costs.of[node as usize] = least;
                    costs.last[node as usize] = last;
                    start = end;
                }
            }
            PathSet::Any { inward, roles } => self.settle(model, *inward, roles, prices, costs),
        }
    }

    /// Dijkstra's algorithm from the root. Few nodes are open at a time: looking through them is quicker than
    /// a heap.
    fn settle(&self, model: &Model<'_>, inward: bool, roles: &[Role], prices: &[f64], costs: &mut Costs) {
        let Costs { of, last, open } = costs;
        open.clear();
        open.push(self.root);
        while let Some(first) = open.first() {
            let (mut at, mut here) = (0, of[*first as usize]);
            for (place, &node) in open.iter().enumerate() {
                let cost = of[node as usize];
                (at, here) = if cost < here { (place, cost) } else { (at, here) };
            }
            let node = open.swap_remove(at);
            for &(arc, far) in if inward { model.arcs_in(node) } else { model.arcs_out(node) } {
                let (cost, known) = (here + prices[arc as usize].max(0.0), of[far as usize]);
                if cost < known && roles[far as usize] != Role::None {
                    of[far as usize] = cost;
                    last[far as usize] = arc;
                    if known == f64::INFINITY && roles[far as usize] == Role::Through {
                        open.push(far);
                    }
                }
            }
        }
    }

    /// Appends the arcs of the cheapest path between the root and `far`, the farthest first.
    pub fn trace(&self, model: &Model<'_>, costs: &Costs, far: NodeIx, path: &mut Vec<Arc>) {
        let mut node = far;
        while node != self.root {
            let last = costs.last[node as usize];
            let (arc, near) = match &self.paths {
                PathSet::Shortest { steps, .. } => (steps[last as usize].arc, steps[last as usize].near),
                PathSet::Any { inward, .. } => {
                    (last, if *inward { model.head(last) } else { model.tail(last) })
                }
            };
            path.push(arc);
            node = near;
        }
    }
}

/// Lists of a model, computed on first use.
pub(crate) struct Dags<'m> {
    model: &'m Model<'m>,
    rule: Rule,
    outward: Vec<OnceCell<Dag>>,
    inward: Vec<OnceCell<Dag>>,
    /// Roles of nodes in paths to servers, or from workers.
    roles: [OnceCell<Rc<[Role]>>; 2],
}

impl<'m> Dags<'m> {
    pub fn new(model: &'m Model<'m>, rule: Rule) -> Self {
        let none = || model.topology.nodes().iter().map(|_| OnceCell::new()).collect();
        Dags { model, rule, outward: none(), inward: none(), roles: [OnceCell::new(), OnceCell::new()] }
    }

    /// Returns the paths from `root` to every switch and the job's servers.
    pub fn from(&self, root: NodeIx) -> &Dag {
        self.outward[root as usize].get_or_init(|| self.made(root, false))
    }

    /// Returns the paths from every switch and the job's workers to `root`.
    pub fn to(&self, root: NodeIx) -> &Dag {
        self.inward[root as usize].get_or_init(|| self.made(root, true))
    }

    fn made(&self, root: NodeIx, inward: bool) -> Dag {
        let model = self.model;
        let ends = if inward { &model.workers } else { &model.servers };
        if self.rule != Rule::Any {
            return Dag::shortest(model, root, inward, ends, self.rule == Rule::Built);
        }
        let roles = self.roles[usize::from(inward)].get_or_init(|| {
            let nodes = 0..model.topology.nodes().len() as NodeIx;
            let mut roles: Vec<Role> =
                nodes.map(|node| if model.forwards(node) { Role::Through } else { Role::None }).collect();
            ends.iter().for_each(|&end| roles[end as usize] = Role::End);
            roles.into()
        });
        Dag { root, paths: PathSet::Any { inward, roles: roles.clone() } }
    }
}
