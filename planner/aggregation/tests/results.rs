//! The trees of results in plans: that they are trees, that they count, and that they are as good as trees
//! can be.

#![allow(clippy::unwrap_used)]

use crate::brute;
use crate::networks;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use brute::Size;
use inart_planner_aggregation::plan::{ResultTree, WORKERS_PER_SUM};
use inart_planner_aggregation::{Levels, Options, Paths, Plan, PlanError, Results, check, plan, schemes};
use inart_topologies::switched::generate::{Equipment, fat_tree};
use inart_topologies::switched::{NodeId, NodeKind, Topology};
use proptest::prelude::*;
use serde_json::{Value, json};

const TRIANGLE: &str = include_str!("../../../topologies/triangle.yaml");
const ONEWAY: &str = include_str!("data/oneway.yaml");
const BELOW_INART: &str = include_str!("data/exact-below-inart.yaml");
const BELOW_INART_SMALL: &str = include_str!("data/exact-below-inart-small.yaml");

/// Gradients one way and results the other way meet on the link in the middle.
const BOTH_WAYS: &str = "
name: both-ways
nodes: [{name: v0, kind: switch}, {name: v1, kind: switch}, {name: s0, kind: server},
  {name: s1, kind: server}, {name: w0, kind: worker}, {name: w1, kind: worker}]
links: [{ends: [v0, v1], rate: 4 Mbps}, {ends: [s0, v0], rate: 100 Mbps}, {ends: [w0, v0], rate: 100 Mbps},
  {ends: [s1, v1], rate: 100 Mbps}, {ends: [w1, v1], rate: 100 Mbps}]
";

/// Two workers at each of two switches; switches and servers bind, links do not.
const WIDE: &str = "
name: wide
nodes: [{name: v0, kind: switch, aggregation_capacity: 3 Mbps},
  {name: v1, kind: switch, aggregation_capacity: 5 Mbps},
  {name: s0, kind: server, ingress_capacity: 4 Mbps}, {name: s1, kind: server, ingress_capacity: 3 Mbps},
  {name: w0, kind: worker}, {name: w1, kind: worker}, {name: w2, kind: worker}, {name: w3, kind: worker}]
links: [{ends: [v0, v1], rate: 1 Gbps}, {ends: [s0, v0], rate: 1 Gbps}, {ends: [s1, v1], rate: 1 Gbps},
  {ends: [w0, v0], rate: 1 Gbps}, {ends: [w1, v0], rate: 1 Gbps}, {ends: [w2, v1], rate: 1 Gbps},
  {ends: [w3, v1], rate: 1 Gbps}]
";

/// A worker on two switches, its server at the first.
const TWO_LINKS: &str = "
name: two-links
nodes: [{name: v0, kind: switch}, {name: v1, kind: switch}, {name: s, kind: server}, {name: w, kind: worker}]
links: [{ends: [w, v0], rate: 10 Mbps}, {ends: [w, v1], rate: 10 Mbps}, {ends: [v0, v1], rate: 10 Mbps},
  {ends: [s, v0], rate: 10 Mbps}]
";

fn topology(text: &str) -> Topology {
    Topology::from_yaml(text).unwrap()
}

fn made(topology: &Topology, options: &Options<'_>) -> Result<Plan, PlanError> {
    let plan = plan(topology, topology.jobs().last().unwrap(), options)?;
    let read = Plan::from_json(&plan.to_json()).unwrap();
    assert_eq!(check(topology, &read), Ok(()), "{options:?}\n{}", topology.to_yaml());
    Ok(read)
}

fn inart(topology: &Topology) -> Plan {
    made(topology, &Options::new(schemes::OPTIMIZED)).unwrap()
}

fn ignored(topology: &Topology) -> Plan {
    made(topology, &Options { results: Results::Ignored, ..Options::new(schemes::OPTIMIZED) }).unwrap()
}

/// A tree's links as text.
fn written(tree: &ResultTree) -> Vec<String> {
    tree.links.iter().map(|[from, to]| format!("{from} {to}")).collect()
}

/// Returns the hops from a node to every other, over switches, independent of traffic.
fn distances(topology: &Topology, from: NodeId) -> BTreeMap<NodeId, usize> {
    let mut distances = BTreeMap::from([(from, 0)]);
    let mut open = VecDeque::from([from]);
    while let Some(node) = open.pop_front() {
        if node != from && topology.node(node).kind != NodeKind::Switch {
            continue;
        }
        for link in topology.links().iter().filter(|link| link.ends.contains(&node)) {
            let far = if link.ends[0] == node { link.ends[1] } else { link.ends[0] };
            if !distances.contains_key(&far) {
                distances.insert(far, distances[&node] + 1);
                open.push_back(far);
            }
        }
    }
    distances
}

/// Checks that the tree reaches over links and switches from its server exactly all workers of the job, each
/// node once.
fn is_a_tree(topology: &Topology, plan: &Plan, tree: &ResultTree) {
    let job = topology.job_named(&plan.job).unwrap();
    let node = |name: &str| topology.node_named(name).unwrap();
    let server = node(&tree.server);
    let mut depth = BTreeMap::from([(server, 0)]);
    let mut inner = BTreeSet::new();
    for [from, to] in &tree.links {
        let (from, to) = (node(from), node(to));
        assert!(topology.link_between(from, to).is_some(), "{tree:?} has no such link");
        assert!(from == server || topology.node(from).kind == NodeKind::Switch, "{tree:?} over a host");
        let before = *depth.get(&from).unwrap_or_else(|| panic!("a child before its parent in {tree:?}"));
        assert_eq!(depth.insert(to, before + 1), None, "twice to one node in {tree:?}");
        inner.insert(from);
    }
    let leaves: BTreeSet<NodeId> = depth.keys().copied().filter(|node| !inner.contains(node)).collect();
    assert_eq!(leaves, job.workers.iter().copied().collect(), "the leaves of {tree:?} are not the workers");
    if plan.paths == Some(Paths::Shortest) {
        let fewest = distances(topology, server);
        assert!(job.workers.iter().all(|worker| depth[worker] == fewest[worker]), "a detour in {tree:?}");
    }
}

/// Returns the plan's demand on every resource by its text, per bit/s of its rate.
fn demand(topology: &Topology, plan: &Plan) -> BTreeMap<String, f64> {
    let shares: BTreeMap<&str, f64> = plan.shards.iter().map(|shard| (&*shard.server, shard.share)).collect();
    let mut demand: BTreeMap<String, f64> = BTreeMap::new();
    let mut add = |resource: String, part: f64| *demand.entry(resource).or_default() += part;
    let flows = plan.flows.iter().map(|flow| (&flow.server, &flow.path, 1));
    let sums = |workers: &Vec<String>| workers.len().div_ceil(WORKERS_PER_SUM);
    let trunks = plan.trunks.iter().map(|trunk| (&trunk.server, &trunk.path, sums(&trunk.workers)));
    for (server, path, units) in flows.chain(trunks) {
        let part = shares[&**server] * units as f64;
        path.windows(2).for_each(|hop| add(format!("link {}->{}", hop[0], hop[1]), part));
        let end = path.last().unwrap();
        add(format!("{} {end}", topology.node(topology.node_named(end).unwrap()).kind), part);
    }
    for tree in &plan.results {
        tree.links.iter().for_each(|[from, to]| add(format!("link {from}->{to}"), shares[&*tree.server]));
    }
    demand
}

/// Checks one tree per server, and loads and a rate that follow from the text.
fn holds(topology: &Topology, plan: &Plan) {
    assert!(plan.results_counted);
    let servers = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(
        servers(plan.results.iter().map(|tree| &*tree.server).collect()),
        servers(plan.shards.iter().map(|shard| &*shard.server).collect())
    );
    plan.results.iter().for_each(|tree| is_a_tree(topology, plan, tree));
    let mut demand = demand(topology, plan);
    for load in &plan.load {
        let found = plan.rate_bps * demand.remove(&load.resource).unwrap();
        assert!(
            (load.used_bps / found - 1.0).abs() < 1e-9,
            "{}: {found}, not {}",
            load.resource,
            load.used_bps
        );
    }
    // Resources that are not listed have no limit, or carry a share of zero.
    let limited = |name: &&String| name.starts_with("link ");
    let missing = demand.iter().filter(|&(name, part)| limited(&name) && *part > 0.0).count();
    assert_eq!(missing, 0, "{demand:?}");
}

fn all_hold(topology: &Topology) -> Result<(), PlanError> {
    for scheme in schemes::ALL.iter().copied().filter(|&scheme| scheme != schemes::OPTIMAL) {
        holds(topology, &made(topology, &Options::new(scheme))?);
        holds(topology, &made(topology, &Options { paths: Paths::Shortest, ..Options::new(scheme) })?);
    }
    holds(topology, &made(topology, &Options { levels: Levels::Two, ..Options::new(schemes::OPTIMIZED) })?);
    Ok(())
}

/// Networks of `brute` that every scheme plans, of those tried.
#[test]
fn every_plan_of_small_networks_has_trees_that_count() {
    let size = Size { switches: 5, workers: 3, servers: 2 };
    let planned =
        |seed: &u64| all_hold(&topology(&brute::network(*seed, &size, (*seed % 3) as usize))).is_ok();
    let count = (0..60).filter(planned).count();
    assert!(count >= 30, "{count} planned");
}

fn config(seed: u64, cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: proptest::test_runner::RngSeed::Fixed(seed),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn all_hold_or_a_server_is_cut_off(text: &str) -> Result<(), TestCaseError> {
    if let Err(error) = all_hold(&topology(text)) {
        let expected = matches!(
            error,
            PlanError::Unreachable { .. } | PlanError::Exhausted { .. } | PlanError::NoWayBack { .. }
        );
        prop_assert!(expected, "{error}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(16, 8))]

    #[test]
    fn every_plan_of_random_networks_has_trees_that_count(text in networks::document()) {
        all_hold_or_a_server_is_cut_off(&text)?;
    }
}

proptest! {
    #![proptest_config(config(15, 30))]

    #[test]
    #[ignore = "soak: about 45 s"]
    fn every_plan_of_thirty_random_networks_has_trees_that_count(text in networks::document()) {
        all_hold_or_a_server_is_cut_off(&text)?;
    }
}

#[test]
fn a_detour_for_results() {
    let triangle = topology(TRIANGLE);
    let plan = inart(&triangle);
    assert_eq!((plan.rate_bps, plan.is_proven_optimal()), (10e6, true));
    assert_eq!(written(&plan.results[0]), ["s0 v2", "v2 v1", "v1 v0", "v0 w0"]);
    let shortest =
        made(&triangle, &Options { paths: Paths::Shortest, ..Options::new(schemes::OPTIMIZED) }).unwrap();
    assert_eq!((shortest.rate_bps, shortest.is_proven_optimal()), (1e6, true));
    assert_eq!(written(&shortest.results[0]), ["s0 v2", "v2 v0", "v0 w0"]);
    // Gradients take the detour and results do not if the short path is full of background traffic in one
    // direction.
    let text = format!("{TRIANGLE}background: [{{link: [v2, v1], rate: 9.5 Mbps}}]\n");
    let plan = inart(&topology(&text));
    assert_eq!((plan.rate_bps, plan.is_proven_optimal()), (1e6, true));
    assert_eq!(written(&plan.results[0]), ["s0 v2", "v2 v0", "v0 w0"]);
}

#[test]
fn results_cost_nothing_where_links_are_wide() {
    let oneway = inart(&topology(ONEWAY));
    assert_eq!(written(&oneway.results[0]), ["s0 b", "b a", "a w0", "a w1"]);
    results_cost_nothing_in(&[ONEWAY, WIDE]);
}

#[test]
#[ignore = "soak: about 50 s"]
fn results_cost_nothing_where_seven_workers_have_wide_links() {
    results_cost_nothing_in(&[BELOW_INART, BELOW_INART_SMALL]);
}

fn results_cost_nothing_in(texts: &[&str]) {
    for &text in texts {
        let topology = topology(text);
        let (counted, ignored) = (inart(&topology), ignored(&topology));
        assert!(counted.rate_bps >= ignored.rate_bps * (1.0 - 1e-9), "{}", topology.name());
    }
}

#[test]
fn results_meet_gradients() {
    let network = topology(BOTH_WAYS);
    // To s1 over the link: w0's gradient; from s0: results for w1; in each direction F_0 + F_1 of 4 Mbps.
    let counted = inart(&network);
    assert!(
        (counted.rate_bps / 4e6 - 1.0).abs() < 1e-9 && counted.is_proven_optimal(),
        "{}",
        counted.rate_bps
    );
    let ignored = ignored(&network);
    assert!((ignored.rate_bps / 8e6 - 1.0).abs() < 1e-9, "{}", ignored.rate_bps);
    assert!(!ignored.results_counted && ignored.results.len() == 2);
}

#[test]
fn results_use_first_links_unless_others_are_faster() {
    let first = inart(&topology(TWO_LINKS));
    assert_eq!(
        (first.rate_bps, written(&first.results[0])),
        (10e6, vec!["s v0".to_owned(), "v0 w".to_owned()])
    );
    let busy = topology(&format!("{TWO_LINKS}background: [{{link: [v0, w], rate: 9 Mbps}}]\n"));
    let second = inart(&busy);
    assert_eq!(second.rate_bps, 10e6);
    assert_eq!(written(&second.results[0]), ["s v0", "v0 v1", "v1 w"]);
    // The published schemes use the first.
    let lbmm = made(&busy, &Options::new(schemes::LBMM)).unwrap();
    assert_eq!(written(&lbmm.results[0]), ["s v0", "v0 w"]);
}

#[test]
fn a_job_without_a_path_for_results_is_refused() {
    let text =
        "{name: oneway, nodes: [{name: v, kind: switch}, {name: s, kind: server}, {name: w, kind: worker}],
      links: [{ends: [w, v], rate: 10 Mbps}, {ends: [s, v], rate: 10 Mbps}],
      background: [{link: [v, w], rate: 10 Mbps}]}";
    let topology = topology(text);
    for &scheme in schemes::ALL {
        let refused = made(&topology, &Options::new(scheme)).unwrap_err();
        let PlanError::NoWayBack { server, worker, .. } = &refused else { panic!("{scheme}: {refused}") };
        assert_eq!((server.as_str(), worker.as_str()), ("s", "w"), "{scheme}: {refused}");
        let text = refused.to_string();
        assert!(text.contains("no way back to worker w") && !text.contains('\n'), "{text}");
    }
    assert_eq!(ignored(&topology).rate_bps, 10e6);
}

#[test]
fn a_running_plans_trees_stay_where_they_can() {
    let equipment = Equipment {
        servers: 2,
        workers: 8,
        rate_bps: 20e6,
        aggregation_bps: 9e6,
        ingress_bps: 20e6,
        delay_seconds: 0.0,
        gradient_bytes: 100_000_000,
        seed: 1,
    };
    let before = fat_tree(4, &equipment).unwrap();
    let running = inart(&before);
    let again = Options { running: Some(&running), ..Options::new(schemes::OPTIMIZED) };
    assert_eq!(made(&before, &again).unwrap().results, running.results);
    // A link in the middle of the first tree fails.
    let is_fabric = |link: &&[String; 2]| link.iter().all(|name| !name.starts_with(['w', 's']));
    let gone = running.results[0].links.iter().find(is_fabric).unwrap().clone();
    let mut document: Value = serde_json::from_str(&before.to_json()).unwrap();
    let joins = |link: &Value| gone.iter().all(|end| link["ends"].as_array().unwrap().contains(&json!(end)));
    document["links"].as_array_mut().unwrap().retain(|link| !joins(link));
    let after = topology(&document.to_string());
    let repaired = made(&after, &again).unwrap();
    holds(&after, &repaired);
    let kept =
        |tree: &ResultTree| tree.links.iter().filter(|link| running.results[0].links.contains(link)).count();
    assert!(kept(&repaired.results[0]) * 2 > running.results[0].links.len(), "{:?}", repaired.results[0]);
    for (old, new) in running.results.iter().zip(&repaired.results).skip(1) {
        let carried = old.links.contains(&gone) || old.links.contains(&[gone[1].clone(), gone[0].clone()]);
        assert!(carried || old == new, "{new:?}, not {old:?}");
    }
}
