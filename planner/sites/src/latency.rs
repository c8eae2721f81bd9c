//! Latency of a chunk on a tree, and trees of low latency.

use inart_protocol_sites::Tree;

use crate::graph::{Graph, Parents, site};
use crate::policy::edge_route;
use crate::schemes::Weighted;
use inart_topologies::sites::{ArcId, SiteId};

/// Returns the time that `bits` take over a direction, including its delay, in seconds.
fn hop_s(graph: &Graph, arc: ArcId, bits: f64) -> f64 {
    bits / graph.bps(arc) + graph.delay_s(arc)
}

/// Returns the directions that a tree's edges use, with repetitions: up and down, including routes of several
/// hops.
pub(crate) fn arcs_of(graph: &Graph, tree: &Tree) -> Vec<ArcId> {
    let up = (0..).map(SiteId).zip(&tree.up).filter_map(|(at, parent)| Some((at, site((*parent)?))));
    let down = (0..).map(SiteId).zip(&tree.down).filter_map(|(at, parent)| Some((site((*parent)?), at)));
    up.chain(down).flat_map(|(from, to)| route_arcs(graph, from, to)).collect()
}

fn route_arcs(graph: &Graph, from: SiteId, to: SiteId) -> Vec<ArcId> {
    let route = edge_route(graph, from, to);
    route.windows(2).filter_map(|hop| graph.arc(hop[0], hop[1])).collect()
}

/// Returns the latency from the farthest site up to the root and from there down to the farthest, with `bits`
/// at each hop, in seconds.
pub(crate) fn of_tree_s(graph: &Graph, tree: &Tree, bits: f64) -> f64 {
    let farthest = |parents: &[Option<inart_protocol_sites::SiteNo>], is_up: bool| {
        let way_s = |&leaf: &SiteId| {
            let (mut at, mut sum) = (leaf, 0.0);
            while let Some(parent) = parents[at.index()].map(site) {
                let (from, to) = if is_up { (at, parent) } else { (parent, at) };
                let hops = route_arcs(graph, from, to).into_iter().map(|arc| hop_s(graph, arc, bits));
                sum += hops.sum::<f64>();
                at = parent;
            }
            sum
        };
        graph.members.iter().map(way_s).fold(0.0, f64::max)
    };
    farthest(&tree.up, true) + farthest(&tree.down, false)
}

/// Returns for each length in bits the trees of all roots with the lowest latency to the root.
pub(crate) fn of_all_roots(graph: &Graph, lengths: &[f64]) -> Vec<Weighted> {
    let of = |&bits: &f64| {
        let tree = move |&root: &SiteId| Graph::tree(root, &shortest(graph, root, bits));
        graph.members.iter().map(tree).map(|tree| Weighted { tree, weight: 1.0 })
    };
    lengths.iter().flat_map(of).collect()
}

/// Returns one tree for each length in bits: among the trees of [`of_all_roots`], the one with the shortest
/// estimated time to sum a gradient of `gradient_bits` in chunks of `chunk_bits`.
pub(crate) fn trees(graph: &Graph, lengths: &[f64], gradient_bits: f64, chunk_bits: f64) -> Vec<Weighted> {
    let estimate_s = |tree: &Tree| {
        let slowest =
            arcs_of(graph, tree).into_iter().map(|arc| graph.bps(arc)).fold(f64::INFINITY, f64::min);
        of_tree_s(graph, tree, chunk_bits) + (gradient_bits - chunk_bits).max(0.0) / slowest
    };
    let best = |&bits: &f64| {
        let all = of_all_roots(graph, &[bits]).into_iter().map(|tree| (estimate_s(&tree.tree), tree));
        all.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, tree)| tree)
    };
    lengths.iter().filter_map(best).collect()
}

/// Returns each site's next hop on the path to the root on which `bits` take the least time, counting both
/// directions of each hop (Dijkstra).
fn shortest(graph: &Graph, root: SiteId, bits: f64) -> Parents {
    let mut parents = vec![None; graph.sites()];
    let mut away_s = vec![f64::INFINITY; graph.sites()];
    let mut settled = vec![false; graph.sites()];
    away_s[root.index()] = 0.0;
    loop {
        let open = graph.members.iter().filter(|at| !settled[at.index()] && away_s[at.index()].is_finite());
        let nearest = open.min_by(|a, b| away_s[a.index()].total_cmp(&away_s[b.index()]).then(a.cmp(b)));
        let Some(&at) = nearest else { return parents };
        settled[at.index()] = true;
        for &(next, down) in &graph.neighbors[at.index()] {
            let both_s = hop_s(graph, down, bits) + hop_s(graph, graph.reverse(down), bits);
            let there_s = away_s[at.index()] + both_s;
            if !settled[next.index()] && there_s < away_s[next.index()] {
                away_s[next.index()] = there_s;
                parents[next.index()] = Some(at);
            }
        }
    }
}
