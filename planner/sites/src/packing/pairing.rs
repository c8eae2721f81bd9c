//! Whole trees: in- and out-arborescences of one root, paired.

use super::columns::{Column, Direction, Graph};
use super::generate::Weighted;
use super::tree::PackedTree;

/// Fraction of the rate below which trees are dropped.
const LEAST: f64 = 1e-6;

/// Returns the trees of a packing, with rates in the graph's unit, by the north-west corner rule: shallow
/// arborescences with shallow ones. Each root has fewer trees than arborescences.
pub(crate) fn pair(graph: &Graph, weighted: &Weighted) -> Vec<PackedTree> {
    let least = LEAST * weighted.rate;
    let mut trees = Vec::new();
    for root in 0..graph.sites {
        let mut up = of_root(graph, weighted, root, Direction::In).into_iter();
        let mut down = of_root(graph, weighted, root, Direction::Out).into_iter();
        let (mut next_up, mut next_down) = (up.next(), down.next());
        while let (Some((above, up_left)), Some((below, down_left))) = (&mut next_up, &mut next_down) {
            let rate = up_left.min(*down_left);
            if rate >= least {
                let (up, down) = (graph.parents(above), graph.parents(below));
                trees.push(PackedTree { root, up, down, rate_bps: rate });
            }
            *up_left -= rate;
            *down_left -= rate;
            let (up_done, down_done) = (*up_left <= 0.0, *down_left <= 0.0);
            if up_done {
                next_up = up.next();
            }
            if down_done {
                next_down = down.next();
            }
        }
    }
    trees
}

/// Returns the arborescences of one root and direction with a positive weight, lowest first.
fn of_root<'w>(
    graph: &Graph,
    weighted: &'w Weighted,
    root: usize,
    direction: Direction,
) -> Vec<(&'w Column, f64)> {
    let of_these = |(column, weight): &&(Column, f64)| {
        column.root == root && column.direction == direction && *weight > 0.0
    };
    let mut all: Vec<(&Column, f64)> =
        weighted.columns.iter().filter(of_these).map(|(column, weight)| (column, *weight)).collect();
    all.sort_by_key(|(column, _)| graph.height(column));
    all
}

/// Returns the fraction of each tree's rate at which no arc is overloaded: 1 minus the solver's rounding on
/// its arcs.
pub(crate) fn within_capacity(
    graph: &Graph,
    trees: &[PackedTree],
    position: impl Fn(usize, usize) -> usize,
) -> Vec<f64> {
    let arcs_of = |tree: &PackedTree| -> Vec<usize> {
        let hops = tree.up.iter().zip(&tree.down).enumerate();
        let both = hops.flat_map(|(site, (up, down))| {
            [up.map(|next| position(site, next)), down.map(|parent| position(parent, site))]
        });
        both.flatten().collect()
    };
    let arcs: Vec<Vec<usize>> = trees.iter().map(arcs_of).collect();
    let mut load = vec![0.0; graph.arcs.len()];
    for (tree, arcs) in trees.iter().zip(&arcs) {
        arcs.iter().for_each(|&arc| load[arc] += tree.rate_bps);
    }
    let share = |&arc: &usize| f64::min(1.0, graph.capacities[arc] / load[arc]);
    arcs.iter().map(|arcs| arcs.iter().map(share).fold(1.0, f64::min)).collect()
}
