//! A custom scheme plans, is checked and is read back, without a change to any crate; its errors are
//! reported.

#![allow(clippy::unwrap_used)]

use crate::toy;

use inart_planner_aggregation::{
    Levels, Limit, Options, Order, Plan, PlanError, Problem, Promises, Results, Scheme, check, check_jobs,
    plan, plan_jobs, schemes,
};
use inart_topologies::switched::{NodeId, Topology};
use toy::Meeting;

/// A chain of switches of which three aggregate, with the workers attached.
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
jobs: [{name: vgg}]
";

fn fig1() -> Topology {
    Topology::from_yaml(include_str!("../../../topologies/fig1.yaml")).unwrap()
}

fn chain() -> Topology {
    Topology::from_yaml(CHAIN).unwrap()
}

fn planned(topology: &Topology, options: &Options<'_>) -> Result<Plan, PlanError> {
    let made = plan(topology, &topology.jobs()[0], options)?;
    let read = Plan::from_json(&made.to_json()).unwrap();
    assert_eq!((check(topology, &read), &read), (Ok(()), &made));
    Ok(read)
}

#[test]
fn it_plans_any_number_of_levels() {
    let made = planned(&chain(), &Options::new(&Meeting)).unwrap();
    assert_eq!((made.scheme.as_str(), made.levels, made.trunks.len()), ("meeting", 3, 3));
    // One unit on every link; with one level three units reach b: 1 Gbps becomes a third.
    assert_eq!((made.rate_bps, made.is_proven_optimal()), (1e9, true));
    let best = planned(&chain(), &Options::new(schemes::DEFAULT)).unwrap();
    assert!(best.rate_bps < made.rate_bps, "{}", best.rate_bps);
}

#[test]
fn it_counts_results_and_has_its_own_trees() {
    for results in [Results::Counted, Results::Ignored] {
        let made = planned(&fig1(), &Options { results, ..Options::new(&Meeting) }).unwrap();
        assert_eq!(made.results_counted, results == Results::Counted);
        assert_eq!(made.results.len(), 2);
        assert_eq!(made.results[0].links[0], ["s1".to_owned(), "v2".to_owned()]);
        let load = |name: &str| made.load.iter().find(|load| load.resource == name).map(|load| load.used_bps);
        let back: f64 = made.shards.iter().map(|shard| shard.share * made.rate_bps).sum();
        let counted = load("link v2->v1");
        assert_eq!(counted.is_some(), results == Results::Counted, "no gradient takes that way");
        assert!(counted.is_none_or(|used| (used - back).abs() < 1.0), "{counted:?} {back}");
    }
}

#[test]
fn it_plans_several_jobs_side_by_side_and_in_turn() {
    let two =
        CHAIN.replace("[{name: vgg}]", "[{name: one, workers: [w1, w2]}, {name: two, workers: [w3, w4]}]");
    let topology = Topology::from_yaml(&two).unwrap();
    let jobs: Vec<_> = topology.jobs().iter().collect();
    for order in [Order::Together, Order::InTurn] {
        let options = Options { results: Results::Ignored, ..Options::new(&Meeting) };
        let plans = plan_jobs(&topology, &jobs, &options, order);
        match order {
            Order::Together => {
                let plans = plans.unwrap();
                assert_eq!(check_jobs(&topology, &plans), Ok(()));
                assert_eq!(plans.min_rate_bps, 0.5e9);
            }
            // The first uses all that the second needs.
            Order::InTurn => assert!(matches!(plans, Err(PlanError::TakenBefore { .. }))),
        }
    }
}

/// Plan function of [`Wrong`].
type Draw = fn(&Problem<'_>) -> Result<Plan, PlanError>;

/// A scheme that makes a mistake, or ignores a limit.
struct Wrong(Draw, &'static [Limit]);

impl Scheme for Wrong {
    fn name(&self) -> &'static str {
        "wrong"
    }

    fn summary(&self) -> &'static str {
        "makes mistakes"
    }

    fn promises(&self) -> Promises {
        Promises { ignores: self.1, ..Promises::default() }
    }

    fn plan(&self, problem: &Problem<'_>) -> Result<Plan, PlanError> {
        (self.0)(problem)
    }
}

fn node(problem: &Problem<'_>, name: &str) -> NodeId {
    problem.topology().node_named(name).unwrap()
}

fn path(problem: &Problem<'_>, names: &[&str]) -> Vec<NodeId> {
    names.iter().map(|name| node(problem, name)).collect()
}

/// Drafts flows of w1 and w2 over these paths, those of the others directly; then `more` is added.
fn draft(
    problem: &Problem<'_>,
    flows: [&[&str]; 2],
    more: impl FnOnce(&mut inart_planner_aggregation::Draft<'_>),
) -> Result<Plan, PlanError> {
    let mut draft = problem.draft();
    let server = node(problem, "s");
    for worker in ["w3", "w4"].map(|name| node(problem, name)) {
        draft.flow(worker, server, problem.path(worker, server, |_, _| 1.0).unwrap());
    }
    for (worker, names) in ["w1", "w2"].iter().zip(flows) {
        draft.flow(node(problem, worker), server, path(problem, names));
    }
    more(&mut draft);
    draft.plan()
}

const STRAIGHT: &[&str] = &["w2", "a", "b", "c", "d", "s"];
const TO_A: [&[&str]; 2] = [&["w1", "a"], &["w2", "a"]];

/// Mistakes, and their messages.
const MISTAKES: &[(Draw, &str)] = &[
    (|problem| problem.draft().plan(), "flow w1 to s is missing"),
    (|problem| draft(problem, TO_A, |_| ()), "flow w1 to s ends at a, which has no trunk for that server"),
    (
        |problem| draft(problem, [&["w1", "a", "c", "d", "s"], STRAIGHT], |_| ()),
        "a link of it is not there, or full",
    ),
    (
        |problem| draft(problem, [&["w1", "a", "w3", "b", "c", "d", "s"], STRAIGHT], |_| ()),
        "hosts do not forward",
    ),
    (
        |problem| draft(problem, [&["w1", "a", "b", "a", "b", "c", "d", "s"], STRAIGHT], |_| ()),
        "visits a node twice",
    ),
    (|problem| draft(problem, [&["w3", "b"], STRAIGHT], |_| ()), "it starts elsewhere"),
    (|problem| draft(problem, [&["w1"], STRAIGHT], |_| ()), "it has no link"),
    (
        |problem| {
            let d = node(problem, "d");
            let trunk = path(problem, &["d", "s"]);
            draft(problem, [&["w1", "a", "b", "c", "d"], STRAIGHT], |draft| {
                draft.trunk(d, node(problem, "s"), trunk);
            })
        },
        "is summed at d, which has no aggregation capacity left",
    ),
    (
        |problem| {
            let (a, b, s) = (node(problem, "a"), node(problem, "b"), node(problem, "s"));
            draft(problem, TO_A, |draft| {
                draft.trunk(a, s, path(problem, &["a", "b"]));
                draft.trunk(b, s, path(problem, &["b", "a"]));
            })
        },
        "flow w1 to s reaches a again and again",
    ),
    (
        |problem| {
            let (a, b, s) = (node(problem, "a"), node(problem, "b"), node(problem, "s"));
            draft(problem, TO_A, |draft| {
                draft.trunk(a, s, path(problem, &["a", "b"]));
                draft.trunk(b, s, path(problem, &["b", "c", "d", "s"]));
            })
        },
        "a gradient is summed 2 times; the scheme promises 1 at most",
    ),
    (
        |problem| {
            let (b, s) = (node(problem, "b"), node(problem, "s"));
            draft(problem, [&["w1", "a", "b", "c", "d", "s"], STRAIGHT], |draft| {
                draft.trunk(b, s, path(problem, &["b", "c", "d", "s"]));
            })
        },
        "no gradient is summed at b for s",
    ),
    (
        |problem| {
            let s = node(problem, "s");
            draft(problem, [&["w1", "a", "b", "c", "d", "s"], STRAIGHT], |draft| {
                draft.results(s, vec![[s, node(problem, "d")]]);
            })
        },
        "results of s: w1 receives none",
    ),
    (
        |problem| {
            let s = node(problem, "s");
            draft(problem, [&["w1", "a", "b", "c", "d", "s"], STRAIGHT], |draft| draft.shares(vec![0.5, 0.5]))
                .inspect_err(|_| assert_eq!(problem.job().servers, [s]))
        },
        "the shares [0.5, 0.5] are not 1 from 0 to 1 that sum to 1",
    ),
];

#[test]
fn routes_that_are_not_a_plan_are_reported() {
    for (draw, expected) in MISTAKES {
        let error = planned(&chain(), &Options::new(&Wrong(*draw, &[]))).unwrap_err().to_string();
        assert!(error.starts_with("job vgg: the routes of scheme wrong are not a plan: "), "{error}");
        assert!(error.contains(expected) && !error.contains('\n'), "{error}, not {expected}");
    }
}

#[test]
fn ignored_limits_are_in_its_plans() {
    let narrow = CHAIN.replace(
        "{name: a, kind: switch, aggregation_capacity: 9 Gbps}",
        "{name: a, kind: switch, aggregation_capacity: 1 Mbps}",
    );
    let topology = Topology::from_yaml(&narrow).unwrap();
    let at_a: Draw = |problem| {
        let (a, s) = (node(problem, "a"), node(problem, "s"));
        draft(problem, TO_A, |draft| draft.trunk(a, s, path(problem, &["a", "b", "c", "d", "s"])))
    };
    let careful = planned(&topology, &Options::new(&Wrong(at_a, &[]))).unwrap();
    let careless = planned(&topology, &Options::new(&Wrong(at_a, &[Limit::Aggregation]))).unwrap();
    assert_eq!((careful.rate_bps, careless.rate_bps), (0.5e6, 1e9 / 3.0));
    assert!(
        !careful.to_json().contains("ignores")
            && careless.to_json().contains("\"ignores\":[\"aggregation\"]")
    );
    let silent = Plan { ignores: Vec::new(), ..careless };
    assert!(check(&topology, &silent).is_err());
}

#[test]
fn requests_outside_its_promises_are_refused() {
    let straight: Draw = |problem| draft(problem, [&["w1", "a", "b", "c", "d", "s"], STRAIGHT], |_| ());
    let scheme = Wrong(straight, &[]);
    let twice = Options { levels: Levels::Two, ..Options::new(&scheme) };
    assert_eq!(planned(&chain(), &twice), Err(PlanError::Levels { scheme: "wrong" }));
    planned(&chain(), &Options::new(&scheme)).unwrap();
}

/// Plans from before the first release have other names of schemes, and did not state what they ignore.
#[test]
fn plans_with_old_names_are_read_under_the_present_ones() {
    let topology = fig1();
    let made = planned(&topology, &Options::new(schemes::ATP_UNLIMITED)).unwrap();
    assert_eq!(made.ignores, [Limit::Aggregation]);
    let before = made.to_json().replace("\"ignores\":[\"aggregation\"],", "");
    assert!(!before.contains("ignores"));
    let named = |name: &str| {
        let text = before.replace("\"scheme\":\"atp-unlimited\"", &format!("\"scheme\":\"{name}\""));
        Plan::from_json(&text).unwrap()
    };
    assert_eq!(named("atp-nocap"), made);
    assert_eq!(named("atp").ignores, []);
    assert_eq!(["even", "exact", "inart"].map(|name| named(name).scheme), ["r-inart", "optimal", "inart"]);
    assert!(Plan::from_json(&made.to_json().replace("[\"aggregation\"]", "[\"links\"]")).is_err());
}
