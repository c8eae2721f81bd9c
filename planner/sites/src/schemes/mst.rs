//! A maximum spanning tree.

use petgraph::unionfind::UnionFind;

use crate::graph::{Graph, Parents};
use inart_topologies::sites::SiteId;

/// Returns the links of the maximum spanning tree in the order of their choice: by the lower of both
/// directions' rates, descending, then by their sites (Kruskal).
pub(crate) fn links(graph: &Graph) -> Vec<[SiteId; 2]> {
    let mut links = Vec::new();
    for &a in &graph.members {
        for &(b, arc) in graph.neighbors[a.index()].iter().filter(|(b, _)| *b > a) {
            links.push((graph.bps(arc).min(graph.bps(graph.reverse(arc))), [a, b]));
        }
    }
    links.sort_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
    let mut joined = UnionFind::<u32>::new(graph.sites());
    links.into_iter().map(|(_, ends)| ends).filter(|[a, b]| joined.union(a.0, b.0)).collect()
}

/// Returns the tree of these links with this root.
pub(crate) fn rooted(graph: &Graph, links: &[[SiteId; 2]], root: SiteId) -> Parents {
    let mut parents = vec![None; graph.sites()];
    let (mut reached, mut next) = (vec![root], 0);
    while let Some(&at) = reached.get(next) {
        next += 1;
        for &[a, b] in links {
            let other = if a == at {
                b
            } else if b == at {
                a
            } else {
                continue;
            };
            if other != root && parents[other.index()].is_none() {
                parents[other.index()] = Some(at);
                reached.push(other);
            }
        }
    }
    parents
}
