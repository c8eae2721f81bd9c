//! STAR and BKT: trees that ignore the network. Their edges use routes of the fewest hops, relayed on the
//! way.

use std::collections::VecDeque;

use crate::graph::{Graph, Parents};
use inart_topologies::sites::SiteId;

/// Returns the next hop from each site to `to`: its lowest-numbered neighbor that is nearer.
pub(crate) fn next_hops(graph: &Graph, to: SiteId) -> Parents {
    let mut distance = vec![usize::MAX; graph.sites()];
    distance[to.index()] = 0;
    let mut queue = VecDeque::from([to]);
    while let Some(at) = queue.pop_front() {
        for &(next, _) in &graph.neighbors[at.index()] {
            if distance[next.index()] == usize::MAX {
                distance[next.index()] = distance[at.index()] + 1;
                queue.push_back(next);
            }
        }
    }
    let hop = |at: usize| {
        let nearer = graph.neighbors[at].iter().map(|&(next, _)| next);
        nearer.into_iter().find(|next| distance[at] != 0 && distance[next.index()] < distance[at])
    };
    (0..graph.sites()).map(hop).collect()
}

/// Returns the route from one site to another, including both.
pub(crate) fn route(graph: &Graph, from: SiteId, to: SiteId) -> Vec<SiteId> {
    let hops = next_hops(graph, to);
    let mut route = vec![from];
    while let Some(next) = route.last().and_then(|at| hops[at.index()]) {
        route.push(next);
    }
    route
}

/// Returns the tree in which all sites send to the root.
pub(crate) fn star(graph: &Graph, root: SiteId) -> Parents {
    balanced(graph, root, graph.sites())
}

/// Returns the balanced `degree`-ary tree: the root, then the other sites ascending; the i-th one's parent is
/// entry ⌊(i−1)/degree⌋.
pub(crate) fn balanced(graph: &Graph, root: SiteId, degree: usize) -> Parents {
    let others = graph.members.iter().copied().filter(|&at| at != root);
    let order: Vec<SiteId> = std::iter::once(root).chain(others).collect();
    let mut parents = vec![None; graph.sites()];
    for (at, site) in order.iter().enumerate().skip(1) {
        parents[site.index()] = Some(order[(at - 1) / degree]);
    }
    parents
}
