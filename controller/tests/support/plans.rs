//! Random networks and random plans. The plans are far from good on purpose: any path, any aggregator.

use inart_planner_aggregation::plan::{Bounds, Flow, Shard, Trunk};
use inart_planner_aggregation::{Plan, Violation, check};
use inart_topologies::switched::generate::{Equipment, fat_tree, leaf_spine, random_regular};
use inart_topologies::switched::{NodeId, NodeKind, Topology};
use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

/// Returns a small network of one of the usual shapes.
pub fn network(rng: &mut ChaCha8Rng) -> Topology {
    let equipment = Equipment {
        servers: rng.random_range(1..4),
        workers: rng.random_range(1..9),
        rate_bps: 1e9,
        aggregation_bps: 1e9,
        ingress_bps: 1e9,
        delay_seconds: 0.0,
        gradient_bytes: 1000,
        seed: rng.random(),
    };
    match rng.random_range(0..3) {
        0 => leaf_spine(rng.random_range(1..5), rng.random_range(1..4), 12, &equipment),
        1 => random_regular(rng.random_range(4..9), 3, 12, &equipment)
            .or_else(|_| random_regular(6, 3, 12, &equipment)),
        _ => fat_tree(4, &equipment),
    }
    .or_else(|_| leaf_spine(4, 2, 12, &equipment))
    .unwrap()
}

/// Returns a plan of the topology's first job: every flow on a random shortest path, direct or to a random
/// switch.
pub fn random(topology: &Topology, rng: &mut ChaCha8Rng) -> Plan {
    let job = &topology.jobs()[0];
    let name = |id: NodeId| topology.node(id).name.clone();
    let names = |path: Vec<NodeId>| path.into_iter().map(name).collect::<Vec<_>>();
    let switches: Vec<_> =
        topology.node_ids().filter(|id| topology.node(*id).kind == NodeKind::Switch).collect();
    let (mut flows, mut trunks) = (Vec::new(), Vec::<Trunk>::new());
    for &server in &job.servers {
        let aggregators: Vec<_> = switches.choose_multiple(rng, 3).copied().collect();
        for &worker in &job.workers {
            let aggregator = rng.random_bool(0.75).then(|| *aggregators.choose(rng).unwrap());
            let path = names(shortest_path(topology, worker, aggregator.unwrap_or(server), rng));
            flows.push(Flow {
                worker: name(worker),
                server: name(server),
                aggregator: aggregator.map(name),
                path,
            });
            let Some(aggregator) = aggregator else { continue };
            let same =
                |trunk: &&mut Trunk| trunk.aggregator == name(aggregator) && trunk.server == name(server);
            match trunks.iter_mut().find(same) {
                Some(trunk) => trunk.workers.push(name(worker)),
                None => trunks.push(Trunk {
                    aggregator: name(aggregator),
                    server: name(server),
                    workers: vec![name(worker)],
                    path: names(shortest_path(topology, aggregator, server, rng)),
                }),
            }
        }
    }
    let share = 1.0 / job.servers.len() as f64;
    Plan {
        scheme: "random".into(),
        seed: 0,
        topology: topology.name().into(),
        job: job.name.clone(),
        levels: 1,
        paths: None,
        exact: false,
        ignores: Vec::new(),
        rate_bps: 1.0,
        bounds: Bounds { lp_bps: None, integral_bps: 1e12, two_levels_bps: None },
        shards: job.servers.iter().map(|&server| Shard { server: name(server), share }).collect(),
        flows,
        trunks,
        load: Vec::new(),
        solve_ms: 0.0,
        other_jobs: Vec::new(),
        results: Vec::new(),
        results_counted: false,
        violation: None,
        moved: None,
    }
}

/// Returns a random shortest path; only switches forward.
fn shortest_path(topology: &Topology, from: NodeId, to: NodeId, rng: &mut ChaCha8Rng) -> Vec<NodeId> {
    let mut distance = vec![usize::MAX; topology.nodes().len()];
    distance[to.index()] = 0;
    let mut queue = std::collections::VecDeque::from([to]);
    while let Some(node) = queue.pop_front() {
        for (next, _) in topology.neighbors(node) {
            let passable = next == from || topology.node(next).kind == NodeKind::Switch;
            if passable && distance[next.index()] == usize::MAX {
                distance[next.index()] = distance[node.index()] + 1;
                queue.push_back(next);
            }
        }
    }
    let mut path = vec![from];
    while let Some(&last) = path.last().filter(|last| **last != to) {
        let nearer: Vec<_> = topology
            .neighbors(last)
            .map(|(next, _)| next)
            .filter(|next| distance[next.index()] < distance[last.index()])
            .collect();
        path.push(*nearer.choose(rng).unwrap());
    }
    path
}

/// Returns a random plan at the rate that the checker finds for it.
pub fn checked(topology: &Topology, rng: &mut ChaCha8Rng) -> Plan {
    let mut plan = random(topology, rng);
    if let Err(violations) = check(topology, &plan) {
        match violations.as_slice() {
            [Violation::WrongNumber { what, found, .. }] if what == "rate_bps" => plan.rate_bps = *found,
            others => panic!("a random plan has {others:?}"),
        }
    }
    plan
}
