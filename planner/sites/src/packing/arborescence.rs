//! Minimum-cost spanning arborescences: Edmonds (1967), "Optimum branchings"; earlier Chu and Liu (1965).

/// Cost with a second cost that breaks ties, compared in this order.
pub(crate) type Cost = (f64, f64);

/// No arc: at the root.
const NONE: usize = usize::MAX;

/// Arc of a graph in which some cycles are contracted.
#[derive(Clone, Copy)]
struct Edge {
    tail: usize,
    head: usize,
    /// Cost of the arc minus the cost of the arcs it would replace.
    cost: Cost,
    /// Position in the graph before the last contraction; in the first graph, among the caller's arcs.
    before: usize,
}

/// Contracted graph.
struct Level {
    edges: Vec<Edge>,
    /// Cheapest arc into each node.
    cheapest: Vec<usize>,
}

/// Returns the spanning out-arborescence from `root` of least cost: by node, the position of the arc that
/// enters it (`None` at the root). Among arcs of equal cost, the first is taken. `None` if some node is out
/// of reach.
///
/// `arcs` are (tail, head) over nodes `0..nodes`; `costs` has one cost per arc. O(nodes * arcs) time.
pub(crate) fn min_cost_arborescence(
    nodes: usize,
    arcs: &[(usize, usize)],
    costs: &[Cost],
    root: usize,
) -> Option<Vec<Option<usize>>> {
    let usable = arcs.iter().zip(costs).enumerate().filter(|(_, (arc, _))| arc.1 != root && arc.0 != arc.1);
    let mut edges: Vec<Edge> =
        usable.map(|(before, (&(tail, head), &cost))| Edge { tail, head, cost, before }).collect();
    let (mut nodes, mut root) = (nodes, root);
    let mut levels: Vec<Level> = Vec::new();
    let mut chosen = loop {
        let cheapest = cheapest_into(nodes, &edges, root)?;
        let (merged, count) = merge_cycles(&edges, &cheapest);
        if count == nodes {
            levels.push(Level { edges, cheapest: Vec::new() });
            break cheapest;
        }
        let contracted = contract(&edges, &cheapest, &merged);
        levels.push(Level { edges, cheapest });
        (edges, nodes, root) = (contracted, count, merged[root]);
    };
    // A cycle keeps all its arcs except the one into the node at which the arborescence enters it.
    while let Some(Level { edges, .. }) = levels.pop() {
        let Some(below) = levels.last() else {
            return Some(chosen.iter().map(|&edge| edges.get(edge).map(|edge| edge.before)).collect());
        };
        let mut entering = below.cheapest.clone();
        for edge in chosen.iter().filter_map(|&edge| edges.get(edge)) {
            entering[below.edges[edge.before].head] = edge.before;
        }
        chosen = entering;
    }
    None
}

/// Returns the position of the cheapest edge into each node except the root; `None` if a node has no edge.
fn cheapest_into(nodes: usize, edges: &[Edge], root: usize) -> Option<Vec<usize>> {
    let mut cheapest = vec![NONE; nodes];
    for (position, edge) in edges.iter().enumerate() {
        let known = &mut cheapest[edge.head];
        if *known == NONE || edge.cost < edges[*known].cost {
            *known = position;
        }
    }
    let all = cheapest.iter().enumerate().all(|(node, &edge)| node == root || edge != NONE);
    all.then_some(cheapest)
}

/// Gives the nodes of each cycle of the `cheapest` edges one number, and each other node one of its own; also
/// returns the count of numbers.
fn merge_cycles(edges: &[Edge], cheapest: &[usize]) -> (Vec<usize>, usize) {
    let nodes = cheapest.len();
    let (mut merged, mut count) = (vec![NONE; nodes], 0);
    // First start node that reached each node.
    let mut seen = vec![NONE; nodes];
    for start in 0..nodes {
        let mut node = start;
        while seen[node] == NONE {
            seen[node] = start;
            if cheapest[node] == NONE {
                break;
            }
            node = edges[cheapest[node]].tail;
        }
        if seen[node] == start && merged[node] == NONE && cheapest[node] != NONE {
            while merged[node] == NONE {
                merged[node] = count;
                node = edges[cheapest[node]].tail;
            }
            count += 1;
        }
        let mut node = start;
        while merged[node] == NONE {
            merged[node] = count;
            count += 1;
            if cheapest[node] != NONE {
                node = edges[cheapest[node]].tail;
            }
        }
    }
    (merged, count)
}

/// Returns the edges between the merged nodes.
fn contract(edges: &[Edge], cheapest: &[usize], merged: &[usize]) -> Vec<Edge> {
    let mut contracted = Vec::with_capacity(edges.len());
    for (before, edge) in edges.iter().enumerate() {
        let (tail, head) = (merged[edge.tail], merged[edge.head]);
        if tail != head {
            // Equal for all edges into one node, so applicable to nodes on no cycle, too.
            let least = edges[cheapest[edge.head]].cost;
            let cost = (edge.cost.0 - least.0, edge.cost.1 - least.1);
            contracted.push(Edge { tail, head, cost, before });
        }
    }
    contracted
}
