//! Fastest aggregation paths to a root (NETSTORM, Theorem 1 and Algorithm 1).

use crate::graph::{Graph, Parents};
use inart_topologies::sites::SiteId;

/// Returns the fastest aggregation path tree of a root: each site's parent is the next one on its path of
/// least weight. Sites settle by weight, then number; a path replaces another only if it is strictly better;
/// neighbors are examined in ascending order. `None` at the root and outside the job.
pub(crate) fn tree(graph: &Graph, root: SiteId) -> Parents {
    let mut parents = vec![None; graph.sites()];
    let mut weight = vec![f64::INFINITY; graph.sites()];
    let mut settled = vec![false; graph.sites()];
    weight[root.index()] = 0.0;
    loop {
        let open = graph.members.iter().filter(|at| !settled[at.index()] && weight[at.index()].is_finite());
        let nearest = open.min_by(|a, b| weight[a.index()].total_cmp(&weight[b.index()]).then(a.cmp(b)));
        let Some(&at) = nearest else { return parents };
        settled[at.index()] = true;
        for &(next, away) in &graph.neighbors[at.index()] {
            // Data flows from the neighbor towards the root.
            let sum = weight[at.index()] + graph.weight(graph.reverse(away));
            if !settled[next.index()] && sum < weight[next.index()] {
                weight[next.index()] = sum;
                parents[next.index()] = Some(at);
            }
        }
    }
}
