//! The checker walks the paths of results: every error of a tree, and any depth of sums.

#![allow(clippy::unwrap_used)]

use std::sync::LazyLock;

use inart_planner_aggregation::plan::{OtherUse, ResultTree};
use inart_planner_aggregation::{
    Options, Paths, Plan, Results, Violation, check, held_by_results, plan, schemes,
};
use inart_topologies::switched::Topology;

fn fig1(results: Results) -> (Topology, Plan) {
    static TOPOLOGY: LazyLock<Topology> =
        LazyLock::new(|| Topology::from_yaml(include_str!("../../../topologies/fig1.yaml")).unwrap());
    let options = Options { results, ..Options::new(schemes::OPTIMIZED) };
    (TOPOLOGY.clone(), plan(&TOPOLOGY, &TOPOLOGY.jobs()[0], &options).unwrap())
}

fn complaints(topology: &Topology, plan: &Plan) -> String {
    let violations = check(topology, plan).expect_err("the plan is spoilt");
    violations.iter().map(Violation::to_string).collect::<Vec<_>>().join("\n")
}

/// Returns the checker's findings on a corrupted plan of Fig. 1 that counts results.
fn spoilt(spoil: impl FnOnce(&mut Plan)) -> String {
    static MADE: LazyLock<(Topology, Plan)> = LazyLock::new(|| fig1(Results::Counted));
    let (topology, mut plan) = MADE.clone();
    assert!(plan.results_counted);
    spoil(&mut plan);
    complaints(&topology, &plan)
}

/// Returns the findings on the tree of s1 alone: `v2` feeds w5, w6 and v1, and v1 the others.
fn tree(spoil: impl FnOnce(&mut Vec<[String; 2]>)) -> String {
    let found = spoilt(|plan| {
        let tree = plan.results.iter_mut().find(|tree| tree.server == "s1").unwrap();
        spoil(&mut tree.links);
    });
    assert!(found.lines().all(|line| line.starts_with("results of s1: ")), "{found}");
    found
}

fn link(from: &str, to: &str) -> [String; 2] {
    [from.to_owned(), to.to_owned()]
}

#[test]
fn a_server_without_a_tree() {
    let found = spoilt(|plan| plan.results.retain(|tree| tree.server != "s1"));
    assert_eq!(found, "results of s1: missing");
    assert_eq!(spoilt(|plan| plan.results.clear()), "results of s1: missing\nresults of s2: missing");
}

#[test]
fn trees_of_others_and_two_of_one() {
    let tree = |server: &str| ResultTree { server: server.to_owned(), links: Vec::new() };
    let found = spoilt(|plan| plan.results.push(tree("w1")));
    assert_eq!(found, "results of w1: this is not a server of the job");
    let found = spoilt(|plan| plan.results.push(tree("unknown")));
    assert_eq!(found, "results of unknown: this is not a server of the job");
    let found = spoilt(|plan| plan.results.push(plan.results[0].clone()));
    assert_eq!(found, "results of s1: listed twice");
    // Each has the other's name: neither starts at its server.
    let found = spoilt(|plan| {
        let links = plan.results[0].links.clone();
        plan.results[0].links = std::mem::replace(&mut plan.results[1].links, links);
    });
    assert!(found.contains("results of s1: no link reaches s2, which forwards them to v2"), "{found}");
    assert!(found.contains("results of s2: no link reaches s1, which forwards them to v2"), "{found}");
}

#[test]
fn a_missing_link() {
    assert_eq!(
        tree(|links| links.push(link("v1", "nowhere"))),
        "results of s1: a link of theirs names an unknown node"
    );
    let found = tree(|links| {
        let last = links.iter_mut().find(|link| link[1] == "w5").unwrap();
        last[0] = "v1".to_owned();
    });
    assert!(found.contains("there is no link v1-w5"), "{found}");
}

#[test]
fn a_node_that_is_fed_twice() {
    assert_eq!(tree(|links| links.push(link("v1", "w1"))), "results of s1: w1 gets them twice");
    assert_eq!(tree(|links| links.push(link("v2", "s1"))), "results of s1: s1 gets them twice");
    assert_eq!(tree(|links| links.push(link("v1", "v2"))), "results of s1: v2 gets them twice");
}

#[test]
fn a_worker_that_gets_none() {
    let found = tree(|links| links.retain(|link| link[1] != "w6"));
    assert_eq!(found, "results of s1: worker w6 receives none");
}

#[test]
fn a_branch_without_workers() {
    let found = tree(|links| links.push(link("v2", "s2")));
    assert_eq!(found, "results of s1: the branch to s2 leads to no worker of the job");
    let found = tree(|links| links.retain(|link| link[0] != "v1"));
    assert!(found.contains("the branch to v1 leads to no worker"), "{found}");
}

#[test]
fn a_host_that_forwards() {
    let found = tree(|links| links.push(link("w1", "v1")));
    assert!(found.contains("w1, a host, sends them on to v1, and does not forward"), "{found}");
}

#[test]
fn a_branch_that_hangs_in_the_air_and_children_before_parents() {
    let found = tree(|links| links.retain(|link| link[1] != "v1"));
    assert!(found.contains("no link reaches v1, which forwards them to w1"), "{found}");
    let found = tree(|links| links.reverse());
    assert!(found.contains("the link v1-w1 precedes the link to v1"), "{found}");
}

#[test]
fn results_that_count_are_in_loads_and_rate() {
    // Made without them, it claims to have counted them.
    let (topology, ignoring) = fig1(Results::Ignored);
    check(&topology, &ignoring).unwrap();
    let claimed = Plan { results_counted: true, ..ignoring.clone() };
    let found = complaints(&topology, &claimed);
    assert!(found.contains("load of link v2->v1: missing, though the plan uses it"), "{found}");
    // Made with results, it claims not to count them: the loads of results are too many.
    let found = spoilt(|plan| plan.results_counted = false);
    assert!(found.contains("load of link v2->v1: the plan does not use it"), "{found}");
    let found = spoilt(|plan| drop(plan.load.pop()));
    assert!(found.contains("missing, though the plan uses it"), "{found}");
}

#[test]
fn plans_from_before_there_were_trees() {
    let (topology, plan) = fig1(Results::Ignored);
    let old = Plan { results: Vec::new(), ..plan.clone() };
    check(&topology, &Plan::from_json(&old.to_json()).unwrap()).unwrap();
    let counted = Plan { results_counted: true, ..old };
    assert!(complaints(&topology, &counted).contains("results of s1: missing"));
}

/// A chain of four switches that each aggregate one worker more.
const CHAIN: &str = "
name: chain
nodes: [{name: a, kind: switch, aggregation_capacity: 9 Gbps},
  {name: b, kind: switch, aggregation_capacity: 9 Gbps},
  {name: c, kind: switch, aggregation_capacity: 9 Gbps}, {name: d, kind: switch},
  {name: s, kind: server, ingress_capacity: 1 Gbps},
  {name: w1, kind: worker}, {name: w2, kind: worker}, {name: w3, kind: worker}, {name: w4, kind: worker}]
links: [{ends: [w1, a], rate: 1 Gbps}, {ends: [w2, a], rate: 1 Gbps}, {ends: [w3, b], rate: 1 Gbps},
  {ends: [w4, c], rate: 1 Gbps}, {ends: [a, b], rate: 1 Gbps}, {ends: [b, c], rate: 1 Gbps},
  {ends: [c, d], rate: 1 Gbps}, {ends: [s, d], rate: 1 Gbps}]
";

/// Checks a plan of three levels for it, as written by hand.
fn chain(spoil: impl FnOnce(&mut String)) -> Result<(), String> {
    let mut text = String::from(
        r#"{"scheme": "by hand", "seed": 1, "topology": "chain", "job": "all", "levels": 3, "rate_bps": 1e9,
        "bounds": {"lp_bps": null, "integral_bps": 1e9, "two_levels_bps": 1e9},
        "shards": [{"server": "s", "share": 1.0}],
        "flows": [{"worker": "w1", "server": "s", "aggregator": "a", "path": ["w1", "a"]},
          {"worker": "w2", "server": "s", "aggregator": "a", "path": ["w2", "a"]},
          {"worker": "w3", "server": "s", "aggregator": "b", "path": ["w3", "b"]},
          {"worker": "w4", "server": "s", "aggregator": "c", "path": ["w4", "c"]}],
        "trunks": [{"aggregator": "a", "server": "s", "workers": ["w1", "w2"], "path": ["a", "b"]},
          {"aggregator": "b", "server": "s", "workers": ["w1", "w2", "w3"], "path": ["b", "c"]},
          {"aggregator": "c", "server": "s", "workers": ["w1", "w2", "w3", "w4"], "path": ["c", "d", "s"]}],
        "load": [{"resource": "link w1->a", "used_bps": 1e9, "capacity_bps": 1e9},
          {"resource": "link w2->a", "used_bps": 1e9, "capacity_bps": 1e9},
          {"resource": "link w3->b", "used_bps": 1e9, "capacity_bps": 1e9},
          {"resource": "link w4->c", "used_bps": 1e9, "capacity_bps": 1e9},
          {"resource": "link a->b", "used_bps": 1e9, "capacity_bps": 1e9},
          {"resource": "link b->c", "used_bps": 1e9, "capacity_bps": 1e9},
          {"resource": "link c->d", "used_bps": 1e9, "capacity_bps": 1e9},
          {"resource": "link d->s", "used_bps": 1e9, "capacity_bps": 1e9},
          {"resource": "switch a", "used_bps": 2e9, "capacity_bps": 9e9},
          {"resource": "switch b", "used_bps": 2e9, "capacity_bps": 9e9},
          {"resource": "switch c", "used_bps": 2e9, "capacity_bps": 9e9},
          {"resource": "server s", "used_bps": 1e9, "capacity_bps": 1e9}],
        "solve_ms": 0.0}"#,
    );
    spoil(&mut text);
    let topology = Topology::from_yaml(CHAIN).unwrap();
    let mut plan = Plan::from_json(&text).unwrap();
    plan.job = topology.jobs()[0].name.clone();
    check(&topology, &plan)
        .map_err(|found| found.iter().map(Violation::to_string).collect::<Vec<_>>().join("\n"))
}

fn replaced(from: &str, to: &str) -> String {
    chain(|text| {
        assert!(text.contains(from), "{from}");
        *text = text.replace(from, to);
    })
    .expect_err("the plan is spoilt")
}

#[test]
fn a_plan_of_three_levels_holds_and_its_mistakes_are_found() {
    assert_eq!(chain(|_| ()), Ok(()));
    let found = replaced("\"levels\": 3", "\"levels\": 2");
    assert_eq!(found, "trunk c to s: a gradient is summed there for the 3rd time, in a plan of 2 levels");
    let found = replaced(r#""workers": ["w1", "w2", "w3"], "#, r#""workers": ["w1", "w3"], "#);
    assert_eq!(found, "trunk b to s: its workers are not those whose gradients are summed there");
    let found = replaced(
        r#""aggregator": "c", "path": ["w4", "c"]"#,
        r#""aggregator": "d", "path": ["w4", "c", "d"]"#,
    );
    assert!(found.contains("flow w4 to s: d has no aggregation: it only forwards"), "{found}");
    let found = replaced(r#""path": ["c", "d", "s"]"#, r#""path": ["c", "b"]"#);
    let expected =
        ["b", "c"].map(|at| format!("trunk {at} to s: its sum goes in a cycle, or waits for one that does"));
    assert_eq!(found, expected.join("\n"));
}

/// A sum that is sent on twice would count its workers twice.
#[test]
fn a_gradient_that_is_in_the_sum_twice() {
    let found = replaced(
        r#""trunks": ["#,
        r#""trunks": [{"aggregator": "b", "server": "s", "workers": ["w1", "w2", "w3"], "path": ["b", "c", "d", "s"]},"#,
    );
    assert!(found.contains("trunk b to s: the trunk is listed twice"), "{found}");
}

/// A triangle of switches; 9 of 10 Mbps of the direct path of results are used.
const TRIANGLE: &str = "
name: short
nodes:
  - {name: v0, kind: switch}
  - {name: v1, kind: switch}
  - {name: v2, kind: switch}
  - {name: s0, kind: server}
  - {name: w0, kind: worker}
links:
  - {ends: [w0, v0], rate: 10 Mbps}
  - {ends: [s0, v2], rate: 10 Mbps}
  - {ends: [v0, v2], rate: 10 Mbps}
  - {ends: [v0, v1], rate: 10 Mbps}
  - {ends: [v1, v2], rate: 10 Mbps}
background:
  - {link: [v2, v0], rate: 9 Mbps}
";

/// A plan on the triangle as made, over these paths, with results counted or not.
fn on_triangle(paths: Paths, results: Results) -> (Topology, Plan) {
    let topology = Topology::from_yaml(TRIANGLE).unwrap();
    let options = Options { paths, results, ..Options::new(schemes::OPTIMIZED) };
    let plan = plan(&topology, &topology.jobs()[0], &options).unwrap();
    (topology, plan)
}

#[test]
fn a_tree_that_takes_a_detour_is_no_tree_of_shortest_paths() {
    let (topology, detour) = on_triangle(Paths::Any, Results::Counted);
    assert_eq!((detour.rate_bps, check(&topology, &detour)), (10e6, Ok(())));
    let shortest = Plan { paths: Some(Paths::Shortest), ..detour };
    let found = complaints(&topology, &shortest);
    let of_link = |from: &str, to: &str| {
        format!(
            "results of s0: the link {from}-{to} does not lead away from the server, in a plan over shortest paths"
        )
    };
    // v1 is as far from v2 as v0 is: only the second link is a detour.
    assert_eq!(found, of_link("v1", "v0"));
    let (topology, direct) = on_triangle(Paths::Shortest, Results::Counted);
    assert_eq!((direct.rate_bps, check(&topology, &direct)), (1e6, Ok(())));
}

/// Results that are not counted are sent all the same: 1 Mbps of v2->v0 is available.
#[test]
fn a_link_filled_by_uncounted_results_is_named() {
    let (topology, plan) = on_triangle(Paths::Any, Results::Ignored);
    assert_eq!((plan.rate_bps, check(&topology, &plan)), (10e6, Ok(())));
    let held = held_by_results(&topology, &plan).unwrap();
    assert_eq!((held.rate_bps, &*held.limit), (1e6, "link v2->v0"));
    // Other jobs' use is not available for them either.
    let taken = OtherUse { resource: "link v2->v0".to_owned(), used_bps: 0.5e6 };
    let shared = Plan { other_jobs: vec![taken], ..plan.clone() };
    assert_eq!(held_by_results(&topology, &shared).unwrap().rate_bps, 0.5e6);
    let slow = Plan { rate_bps: 1e6, load: Vec::new(), ..plan.clone() };
    assert_eq!(held_by_results(&topology, &slow), None);
    assert_eq!(held_by_results(&topology, &Plan { results: Vec::new(), ..plan }), None);
    let (topology, counted) = on_triangle(Paths::Any, Results::Counted);
    assert_eq!(held_by_results(&topology, &counted), None);
}
