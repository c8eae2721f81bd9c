//! Eq. (5) literally, in the InArt paper's names and over all shortest paths of every worker (or over any:
//! then every q is a flow over arcs), every y, z and q multiplied by F_s: nothing merged, nothing left out.
//! Three misprints are corrected: the paths of a partial sum carry z, q of a worker's path to a switch has
//! the index s, and q of the direct paths is outside the sum over switches. If results count, r of each
//! server on every arc is at least the flow to each of its workers.

use std::collections::HashMap;

use good_lp::{Expression, Solution, SolverModel, Variable, highs, variable, variables};
use inart_planner_aggregation::{Paths, Results};
use inart_topologies::switched::{Job, NodeId, NodeKind, Topology};

/// A link in one direction: its position and whether it is taken backwards.
type Arc = (usize, bool);

/// Returns the rest of a capacity, in Mbit/s.
fn left(total_bps: f64, used_bps: f64) -> f64 {
    (total_bps - used_bps).max(0.0) / 1e6
}

/// Returns all shortest paths from a node to another in the network as built whose links have available
/// capacity; hosts never forward.
fn paths(topology: &Topology, from: NodeId, to: NodeId) -> Vec<Vec<Arc>> {
    let mut unfinished: Vec<(NodeId, Vec<Arc>)> = vec![(from, Vec::new())];
    // Layer by layer, never back to a node of an earlier layer: the first arrival is shortest.
    let mut reached = vec![from];
    loop {
        let done: Vec<Vec<Arc>> =
            unfinished.iter().filter(|(node, _)| *node == to).map(|(_, path)| path.clone()).collect();
        let open = |path: &Vec<Arc>| path.iter().all(|&arc| on_arc(topology, arc) > 0.0);
        if !done.is_empty() || unfinished.is_empty() {
            return done.into_iter().filter(open).collect();
        }
        let mut next = Vec::new();
        for (node, path) in &unfinished {
            if *node != from && topology.node(*node).kind != NodeKind::Switch {
                continue;
            }
            for (at, link) in topology.links().iter().enumerate() {
                for back in [false, true] {
                    let [a, b] = if back { [link.ends[1], link.ends[0]] } else { link.ends };
                    if a == *node && !reached.contains(&b) {
                        next.push((b, path.iter().copied().chain([(at, back)]).collect::<Vec<Arc>>()));
                    }
                }
            }
        }
        reached.extend(next.iter().map(|(node, _)| *node));
        unfinished = next;
    }
}

fn on_arc(topology: &Topology, (at, back): Arc) -> f64 {
    let link = &topology.links()[at];
    left(link.rates_bps[usize::from(back)], link.background_bps[usize::from(back)])
}

/// The arcs of all paths from a node to another, with their ends.
fn arcs(topology: &Topology, from: NodeId, to: NodeId) -> Vec<(Arc, NodeId, NodeId)> {
    let leads = |id: NodeId, end: NodeId| id == end || topology.node(id).kind == NodeKind::Switch;
    let both = topology.links().iter().enumerate().flat_map(|(at, link)| {
        let [a, b] = link.ends;
        [((at, false), a, b), ((at, true), b, a)]
    });
    both.filter(|&(arc, a, b)| on_arc(topology, arc) > 0.0 && leads(a, from) && leads(b, to)).collect()
}

/// Returns the arcs over which results may be sent from a server: all that do not lead into another host, or
/// only those that lead away from it by the fewest hops (in the network as built).
fn arcs_back(topology: &Topology, job: &Job, from: NodeId, over: Paths) -> Vec<(Arc, NodeId, NodeId)> {
    let switch = |id: NodeId| topology.node(id).kind == NodeKind::Switch;
    let ends = |at: usize, back: bool| {
        let [a, b] = topology.links()[at].ends;
        if back { ((at, back), b, a) } else { ((at, back), a, b) }
    };
    let leads = |&(_, a, b): &(Arc, NodeId, NodeId)| {
        (a == from || switch(a)) && b != from && (switch(b) || job.workers.contains(&b))
    };
    let all: Vec<_> =
        (0..topology.links().len()).flat_map(|at| [ends(at, false), ends(at, true)]).filter(leads).collect();
    let mut hops: HashMap<NodeId, usize> = HashMap::from([(from, 0)]);
    for length in 1..=topology.nodes().len() {
        for &(_, a, b) in &all {
            if hops.get(&a) == Some(&(length - 1)) {
                hops.entry(b).or_insert(length);
            }
        }
    }
    let away = |&(_, a, b): &(Arc, NodeId, NodeId)| hops.contains_key(&a) && hops[&a] + 1 == hops[&b];
    all.into_iter()
        .filter(|&(arc, ..)| on_arc(topology, arc) > 0.0)
        .filter(|arc| over == Paths::Any || away(arc))
        .collect()
}

/// Adds the results of one server, to which each worker sends `f`: each worker's inflow over an arc is in the
/// arc's load once.
fn results_of(
    vars: &mut good_lp::ProblemVariables,
    on_link: &mut HashMap<Arc, Expression>,
    workers: &[NodeId],
    (server, f): (NodeId, Variable),
    back: &[(Arc, NodeId, NodeId)],
) -> Vec<good_lp::Constraint> {
    let mut rows = Vec::new();
    let once: Vec<Variable> = back.iter().map(|_| vars.add(variable().min(0.0))).collect();
    for (&(arc, ..), &r) in back.iter().zip(&once) {
        *on_link.entry(arc).or_default() += r;
    }
    for &w in workers {
        let mut balance: HashMap<NodeId, Expression> = HashMap::new();
        for (&(_, a, b), &r) in back.iter().zip(&once) {
            let g = vars.add(variable().min(0.0));
            rows.push((g - r).leq(0.0));
            *balance.entry(a).or_default() -= g;
            *balance.entry(b).or_default() += g;
        }
        balance.remove(&server);
        rows.push(balance.remove(&w).unwrap_or_default().eq(f));
        rows.extend(balance.into_values().map(|sum| sum.eq(0.0)));
    }
    rows
}

/// f~ in bit/s, with free or equal shares.
pub fn optimum(topology: &Topology, job: &Job, equal: bool, over: Paths, results: Results) -> f64 {
    let (workers, servers) = (&job.workers, &job.servers);
    let room = |v: NodeId| left(topology.node(v).aggregation_bps, topology.node(v).background_bps);
    let switches: Vec<NodeId> =
        topology.node_ids().filter(|&v| topology.node(v).kind == NodeKind::Switch && room(v) > 0.0).collect();
    let mut vars = variables!();
    let mut rows = Vec::new();
    let mut on_link: HashMap<Arc, Expression> = HashMap::new();
    let mut on_switch: HashMap<NodeId, Expression> = HashMap::new();
    let sending: Vec<Variable> = servers.iter().map(|_| vars.add(variable().min(0.0))).collect();
    let mut kept = Vec::new();
    for (&f, &s) in sending.iter().zip(servers) {
        let mut intake = Expression::from(0.0);
        let mut routed =
            |vars: &mut good_lp::ProblemVariables, amount: Variable, from: NodeId, to: NodeId| {
                let mut all = Expression::from(0.0);
                if over == Paths::Any {
                    let mut balance: HashMap<NodeId, Expression> = HashMap::new();
                    for (arc, a, b) in arcs(topology, from, to) {
                        let q = vars.add(variable().min(0.0));
                        *on_link.entry(arc).or_default() += q;
                        *balance.entry(a).or_default() += q;
                        *balance.entry(b).or_default() -= q;
                    }
                    all += balance.remove(&from).unwrap_or_default();
                    balance.remove(&to);
                    kept.extend(balance.into_values().map(|sum| sum.eq(0.0)));
                    return all.eq(amount);
                }
                for path in paths(topology, from, to) {
                    let q = vars.add(variable().min(0.0));
                    all += q;
                    for arc in path {
                        *on_link.entry(arc).or_default() += q;
                    }
                }
                all.eq(amount)
            };
        let z: Vec<Variable> = switches.iter().map(|_| vars.add(variable().min(0.0))).collect();
        for (&z, &v) in z.iter().zip(&switches) {
            rows.push(routed(&mut vars, z, v, s));
            intake += z;
        }
        for &w in workers {
            let y = vars.add(variable().min(0.0));
            rows.push(routed(&mut vars, y, w, s));
            intake += y;
            let mut once = Expression::from(y);
            for (&z, &v) in z.iter().zip(&switches) {
                let y_v = vars.add(variable().min(0.0));
                rows.push(routed(&mut vars, y_v, w, v));
                rows.push((y_v - z).leq(0.0));
                *on_switch.entry(v).or_default() += y_v;
                once += y_v;
            }
            rows.push(once.eq(f));
        }
        let node = topology.node(s);
        if let Some(ingress_bps) = node.ingress_bps {
            rows.push(intake.leq(left(ingress_bps, node.background_bps)));
        }
    }
    rows.extend(kept);
    for (&f, &s) in sending.iter().zip(servers).filter(|_| results == Results::Counted) {
        rows.extend(results_of(&mut vars, &mut on_link, workers, (s, f), &arcs_back(topology, job, s, over)));
    }
    if equal {
        rows.extend(sending.iter().map(|&f| (f - sending[0]).eq(0.0)));
    }
    rows.extend(on_switch.into_iter().map(|(v, load)| load.leq(room(v))));
    rows.extend(on_link.into_iter().map(|((at, back), load)| {
        let link = &topology.links()[at];
        load.leq(left(link.rates_bps[usize::from(back)], link.background_bps[usize::from(back)]))
    }));
    let whole: Expression = sending.iter().sum();
    let mut problem = vars.maximise(whole.clone()).using(highs).set_threads(1);
    for row in rows {
        problem.add_constraint(row);
    }
    problem.solve().expect("zero is a solution").eval(&whole) * 1e6
}
