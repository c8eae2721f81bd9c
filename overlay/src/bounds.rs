//! What no schedule can beat.

use petgraph::algo::ford_fulkerson;
use petgraph::graph::DiGraph;

use crate::graph::Graph;

/// The least rate out of any set of sites, in bit/s: the smallest cut between the first site and any other,
/// in either direction. Every set's rate into it is the rate out of the others.
pub(crate) fn least_cut_bps(graph: &Graph) -> f64 {
    let mut flow = DiGraph::<(), f64>::new();
    let nodes: Vec<_> = (0..graph.sites()).map(|_| flow.add_node(())).collect();
    for &from in &graph.members {
        for &(to, arc) in &graph.neighbours[from.index()] {
            flow.add_edge(nodes[from.index()], nodes[to.index()], graph.bps(arc));
        }
    }
    let Some((&first, others)) = graph.members.split_first() else { return f64::INFINITY };
    let most = |from: usize, to: usize| ford_fulkerson(&flow, nodes[from], nodes[to]).0;
    let both = others.iter().map(|at| most(first.index(), at.index()).min(most(at.index(), first.index())));
    both.fold(f64::INFINITY, f64::min)
}

/// A lower bound on the time of a round by any schedule on these rates, in seconds. Each set of sites has to
/// let a gradient's worth of bits out (what the others do not know of its sum) and in; the last of them
/// arrives a link's delay after it left. `least_delay_s`: the shortest of the links' delays.
pub(crate) fn round_seconds(graph: &Graph, gradient_bytes: u64, least_delay_s: f64) -> f64 {
    gradient_bytes as f64 * 8.0 / least_cut_bps(graph) + least_delay_s
}
