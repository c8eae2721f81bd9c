//! Auxiliary paths between neighbors (NETSTORM, Algorithm 3, in both readings).

use std::collections::{BTreeMap, BTreeSet};

use crate::graph::Graph;
use inart_topologies::sites::SiteId;

/// Criterion for different paths between two neighbors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disjoint {
    /// Link-disjoint paths: the shortest one is found, its links are removed, and so on.
    Edges,
    /// Paths without a common site between the ends: of all simple paths, fastest first, as in the released
    /// code.
    Nodes,
}

/// Paths of every ordered pair of neighbors, fastest first, including both ends and the direct link.
pub(crate) type Paths = BTreeMap<(SiteId, SiteId), Vec<Vec<SiteId>>>;

/// Maximum number of simple paths examined for one pair: a network of many sites has exponentially many.
const MOST_PATHS: usize = 200_000;

pub(crate) fn paths(graph: &Graph, disjoint: Disjoint) -> Paths {
    let pairs = graph
        .members
        .iter()
        .flat_map(|&from| graph.neighbors[from.index()].iter().map(move |&(to, _)| (from, to)));
    let of = |(from, to)| match disjoint {
        Disjoint::Edges => edge_disjoint(graph, from, to),
        Disjoint::Nodes => node_disjoint(graph, from, to),
    };
    pairs.map(|pair| (pair, of(pair))).collect()
}

fn edge_disjoint(graph: &Graph, from: SiteId, to: SiteId) -> Vec<Vec<SiteId>> {
    let (mut used, mut paths) = (BTreeSet::new(), Vec::new());
    while let Some(path) = fastest(graph, from, to, &used) {
        for hop in path.windows(2) {
            used.insert((hop[0].min(hop[1]), hop[0].max(hop[1])));
        }
        paths.push(path);
    }
    paths
}

/// Returns the fastest path over unused links; ties as in Algorithm 1.
fn fastest(
    graph: &Graph,
    from: SiteId,
    to: SiteId,
    used: &BTreeSet<(SiteId, SiteId)>,
) -> Option<Vec<SiteId>> {
    let mut before = vec![None; graph.sites()];
    let mut weight = vec![f64::INFINITY; graph.sites()];
    let mut settled = vec![false; graph.sites()];
    weight[from.index()] = 0.0;
    loop {
        let open = graph.members.iter().filter(|at| !settled[at.index()] && weight[at.index()].is_finite());
        let &at = open.min_by(|a, b| weight[a.index()].total_cmp(&weight[b.index()]).then(a.cmp(b)))?;
        if at == to {
            break;
        }
        settled[at.index()] = true;
        for &(next, arc) in &graph.neighbors[at.index()] {
            let sum = weight[at.index()] + graph.weight(arc);
            let is_free = !used.contains(&(at.min(next), at.max(next)));
            if is_free && !settled[next.index()] && sum < weight[next.index()] {
                weight[next.index()] = sum;
                before[next.index()] = Some(at);
            }
        }
    }
    let mut path = vec![to];
    while let Some(previous) = path.last().and_then(|at| before[at.index()]) {
        path.push(previous);
    }
    path.reverse();
    Some(path)
}

fn node_disjoint(graph: &Graph, from: SiteId, to: SiteId) -> Vec<Vec<SiteId>> {
    let mut all = Vec::new();
    let mut path = vec![from];
    simple_paths(graph, to, &mut path, &mut all);
    let mut weighed: Vec<_> = all.into_iter().map(|path| (graph.route_weight(&path), path)).collect();
    weighed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.len().cmp(&b.1.len())).then(a.1.cmp(&b.1)));
    let (mut used, mut kept) = (BTreeSet::new(), Vec::new());
    for (_, path) in weighed {
        let inner = &path[1..path.len() - 1];
        if inner.iter().all(|at| !used.contains(at)) {
            used.extend(inner.iter().copied());
            kept.push(path);
        }
    }
    kept
}

/// Collects all simple paths from the end of `path` to `to`, shortest prefixes first; at most [`MOST_PATHS`].
fn simple_paths(graph: &Graph, to: SiteId, path: &mut Vec<SiteId>, all: &mut Vec<Vec<SiteId>>) {
    let Some(&at) = path.last() else { return };
    for &(next, _) in &graph.neighbors[at.index()] {
        if path.contains(&next) || all.len() >= MOST_PATHS {
            continue;
        }
        path.push(next);
        if next == to {
            all.push(path.clone());
        } else {
            simple_paths(graph, to, path, all);
        }
        path.pop();
    }
}
