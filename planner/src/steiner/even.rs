//! What results load when they are spread evenly over trees of shortest paths.

use std::collections::VecDeque;

use super::Steiner;
use crate::model::{Arc, NodeIx};

/// Trees at most.
const TREES: usize = 16;

/// The load of every arc per unit of results, as (arc, part): a mixture of trees of shortest paths. The n-th tree takes the n-th
/// way back at every node, so that on a regular network the trees spread like even routing.
pub(crate) fn even_loads(steiner: &Steiner<'_>) -> Vec<(Arc, f64)> {
    let nodes = steiner.model.topology.nodes().len();
    let mut hops = vec![u32::MAX; nodes];
    let mut back: Vec<Vec<Arc>> = vec![Vec::new(); nodes];
    hops[steiner.root as usize] = 0;
    let mut queue = VecDeque::from([steiner.root]);
    while let Some(node) = queue.pop_front() {
        let next = hops[node as usize] + 1;
        for (arc, to) in steiner.arcs_out(node) {
            if hops[to as usize] == u32::MAX {
                hops[to as usize] = next;
                queue.push_back(to);
            }
            if hops[to as usize] == next {
                back[to as usize].push(arc);
            }
        }
    }
    let trees = back.iter().map(Vec::len).max().unwrap_or(1).clamp(1, TREES);
    let mut loads: Vec<(Arc, f64)> = steiner.leaves.iter().map(|&arc| (arc, 1.0)).collect();
    let mut on_arc = vec![0.0; steiner.model.arcs()];
    let mut joined = vec![usize::MAX; nodes];
    for n in 0..trees {
        joined[steiner.root as usize] = n;
        for &terminal in &steiner.terminals {
            let mut node: NodeIx = terminal;
            while std::mem::replace(&mut joined[node as usize], n) != n {
                let ways = &back[node as usize];
                let arc = ways[n % ways.len()];
                on_arc[arc as usize] += 1.0 / trees as f64;
                node = steiner.model.tail(arc);
            }
        }
    }
    loads.extend((0..).zip(on_arc).filter(|&(_, part)| part > 0.0));
    loads
}
