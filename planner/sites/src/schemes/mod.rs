//! Schemes: choice of the trees that carry a job's chunks.

pub(crate) mod fapt;
pub(crate) mod hops;
pub(crate) mod mst;

use std::sync::Arc;

use inart_protocol_sites::Tree;

use crate::auxiliary::Disjoint;
use crate::graph::{Graph, number};
use crate::packing;
use crate::plan::Plan;
use crate::plan_error::PlanError;
use crate::scheme::Scheme;
use inart_topologies::sites::SiteId;

/// Options of the planner.
#[derive(Debug, Clone)]
pub struct Options {
    /// Scheme.
    pub scheme: Scheme,
    /// Root of a scheme with one tree. Default: the first site for `star` and `bkt`, the root of least w(T)
    /// for `mst` and `fapt`.
    pub root: Option<SiteId>,
    /// Children of a site in `bkt`; at least 1.
    pub degree: usize,
    /// Number of roots of `netstorm`, the best ones; default: all sites.
    pub roots: Option<usize>,
    /// Auxiliary paths, if any.
    pub auxiliary: Option<Disjoint>,
    /// Plan to follow on all rates: its trees, its shares and its chunks. The scheme is the plan's.
    pub given: Option<Arc<Plan>>,
}

impl Options {
    /// Creates the options of a scheme as in the NETSTORM paper, without auxiliary paths.
    pub fn new(scheme: Scheme) -> Self {
        Options { scheme, root: None, degree: 2, roots: None, auxiliary: None, given: None }
    }

    /// Creates options that follow a plan. While a link of a tree is down, the tree uses the route of the
    /// fewest hops instead.
    ///
    /// # Errors
    /// A plan of an unknown scheme.
    pub fn following(plan: Plan) -> Result<Self, PlanError> {
        let scheme = Scheme::of_plan(&plan.scheme).ok_or_else(|| PlanError::Plan {
            place: "scheme".to_owned(),
            problem: format!("\"{}\" is not known; write \"own\"", plan.scheme),
        })?;
        Ok(Options { given: Some(Arc::new(plan)), ..Options::new(scheme) })
    }

    /// Whether chunks may take auxiliary paths.
    pub fn has_auxiliary(&self) -> bool {
        self.auxiliary.is_some() || self.given.as_ref().is_some_and(|plan| !plan.auxiliary.is_empty())
    }

    /// Refuses options that the scheme does not support.
    pub(crate) fn check(&self, members: &[SiteId]) -> Result<(), PlanError> {
        let scheme = self.scheme;
        if scheme == Scheme::Own && self.given.is_none() {
            return Err(PlanError::NoTrees);
        }
        if self.root.is_some() && matches!(scheme, Scheme::Optimized | Scheme::Netstorm) {
            return Err(PlanError::SeveralRoots { scheme });
        }
        if self.roots.is_some() && scheme != Scheme::Netstorm {
            return Err(PlanError::OneRoot { scheme });
        }
        if let Some(roots) = self.roots.filter(|&roots| roots == 0 || roots > members.len()) {
            return Err(PlanError::Roots { roots, sites: members.len() });
        }
        if self.degree == 0 {
            return Err(PlanError::Degree);
        }
        if self.auxiliary.is_some() && matches!(scheme, Scheme::Optimized | Scheme::Star | Scheme::Bkt) {
            return Err(PlanError::NoAuxiliary { scheme });
        }
        Ok(())
    }
}

/// Tree with its weight: the amount of the gradient that it carries, relative to the other trees.
#[derive(Debug, Clone)]
pub(crate) struct Weighted {
    pub tree: Tree,
    pub weight: f64,
}

/// Returns the trees of a scheme, by root.
pub(crate) fn trees(graph: &Graph, options: &Options) -> Result<Vec<Weighted>, PlanError> {
    let first = graph.members[0];
    let one = |root, parents| vec![Weighted { tree: Graph::tree(root, &parents), weight: 1.0 }];
    let least = |tree_of: &dyn Fn(SiteId) -> Tree| {
        let by_weight = graph.members.iter().map(|&root| (direct_weight(graph, &tree_of(root)), root));
        by_weight.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))).map_or(first, |(_, root)| root)
    };
    Ok(match options.scheme {
        Scheme::Optimized => packed(graph)?,
        Scheme::Star => {
            let root = options.root.unwrap_or(first);
            one(root, hops::star(graph, root))
        }
        Scheme::Bkt => {
            let root = options.root.unwrap_or(first);
            one(root, hops::balanced(graph, root, options.degree))
        }
        Scheme::Mst => {
            let links = mst::links(graph);
            let rooted = |root| mst::rooted(graph, &links, root);
            let root = options.root.unwrap_or_else(|| least(&|root| Graph::tree(root, &rooted(root))));
            one(root, rooted(root))
        }
        Scheme::Fapt => {
            let tree_of = |root| Graph::tree(root, &fapt::tree(graph, root));
            let root = options.root.unwrap_or_else(|| least(&tree_of));
            one(root, fapt::tree(graph, root))
        }
        Scheme::Netstorm => several(graph, options.roots.unwrap_or(graph.members.len())),
        Scheme::Own => return Err(PlanError::NoTrees),
    })
}

/// Returns w(T) of a tree whose edges are links.
fn direct_weight(graph: &Graph, tree: &Tree) -> f64 {
    graph.tree_weight(tree, &|from, to| vec![from, to])
}

/// Returns the fastest aggregation path trees of the best `roots` roots by quality, then number (NETSTORM,
/// Algorithm 2: its line 5 is read as "every node except the root").
fn several(graph: &Graph, roots: usize) -> Vec<Weighted> {
    let of = |&root: &SiteId| {
        let tree = Graph::tree(root, &fapt::tree(graph, root));
        Weighted { weight: 1.0 / direct_weight(graph, &tree), tree }
    };
    let mut trees: Vec<_> = graph.members.iter().map(of).collect();
    trees.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.tree.root.cmp(&b.tree.root)));
    trees.truncate(roots);
    trees.sort_by_key(|weighted| weighted.tree.root);
    trees
}

/// Returns the packing of reduce and broadcast trees with the highest goodput; weights are in bit/s.
pub(crate) fn packed(graph: &Graph) -> Result<Vec<Weighted>, PlanError> {
    let members = &graph.members;
    let place = |site: SiteId| members.iter().position(|&member| member == site);
    let mut arcs = Vec::new();
    let mut rates = Vec::new();
    for (from, &at) in members.iter().enumerate() {
        for &(next, arc) in &graph.neighbors[at.index()] {
            if let Some(to) = place(next) {
                arcs.push((from, to));
                rates.push(graph.bps(arc));
            }
        }
    }
    let packing = packing::pack(members.len(), &arcs, &rates).map_err(PlanError::Solver)?;
    let spread = |parents: &[Option<usize>]| {
        let mut all = vec![None; graph.sites()];
        for (at, parent) in parents.iter().enumerate() {
            all[members[at].index()] = parent.map(|parent| number(members[parent]));
        }
        all
    };
    let mut trees: Vec<_> = packing
        .trees
        .iter()
        .map(|packed| Weighted {
            tree: Tree {
                root: number(members[packed.root]),
                up: spread(&packed.up),
                down: spread(&packed.down),
            },
            weight: packed.rate_bps,
        })
        .collect();
    trees.sort_by_key(|weighted| weighted.tree.root);
    Ok(trees)
}
