//! Exact jobs: no scheme has a switch add anything up for them, alone, beside other jobs or from a running
//! plan.

#![allow(clippy::unwrap_used)]

use inart_planner::topology::generate::{Equipment, deal_jobs, fat_tree};
use inart_planner::{
    Job, JobPlans, Levels, Options, Order, Plan, Topology, Violation, check, check_jobs, plan, plan_jobs,
    schemes,
};

const FIG1: &str = include_str!("../../topologies/fig1.yaml");

fn fig1() -> Topology {
    Topology::from_yaml(FIG1).unwrap()
}

/// The same network with the jobs of those numbers exact.
fn with_exact(topology: &Topology, exact: &[usize]) -> Topology {
    let jobs = topology.jobs().iter().enumerate();
    topology.with_jobs(jobs.map(|(n, job)| Job { exact: exact.contains(&n), ..job.clone() }).collect())
}

fn planned(topology: &Topology, options: &Options<'_>) -> Plan {
    let made = plan(topology, &topology.jobs()[0], options).unwrap();
    check(topology, &made).unwrap();
    made
}

fn sums_nowhere(plan: &Plan) -> bool {
    plan.trunks.is_empty() && plan.flows.iter().all(|flow| flow.aggregator.is_none())
}

#[test]
fn no_scheme_sums_in_switches() {
    let exact = with_exact(&fig1(), &[0]);
    // What is left if no switch adds anything up for anybody.
    let forwarding = Topology::from_yaml(&FIG1.replace(", aggregation: 6 Gbps", "")).unwrap();
    assert!(forwarding.nodes().iter().all(|node| node.aggregation_bps == 0.0));
    let one = schemes::ALL.iter().map(|&scheme| Options::new(scheme));
    for options in one.chain([Options { levels: Levels::Two, ..Options::new(schemes::INART) }]) {
        let made = planned(&exact, &options);
        assert!(made.exact && sums_nowhere(&made), "{options:?}");
        let least = planned(&forwarding, &options);
        assert_eq!((made.rate_bps, made.bounds), (least.rate_bps, least.bounds), "{options:?}");
    }
    let made = planned(&exact, &Options::new(schemes::INART));
    assert!(made.is_proven_optimal());
    assert!(made.rate_bps < planned(&fig1(), &Options::new(schemes::INART)).rate_bps);
}

#[test]
fn plans_and_topologies_say_so_where_it_is_so() {
    let options = Options::new(schemes::INART);
    let (exact, other) = (with_exact(&fig1(), &[0]), fig1());
    let (made, usual) = (planned(&exact, &options), planned(&other, &options));
    assert!(made.to_json().contains(r#""exact":true"#) && !usual.to_json().contains("exact"));
    assert_eq!(Plan::from_json(&made.to_json()).unwrap(), made);
    for text in [exact.to_yaml(), exact.to_json()] {
        assert!(Topology::from_yaml(&text).unwrap().jobs()[0].exact, "{text}");
    }
    assert!(!other.to_yaml().contains("exact") && !other.to_json().contains("exact"));
    let parts = deal_jobs(&exact, 2, 3).unwrap();
    assert!(parts.jobs().iter().all(|job| job.exact));
}

#[test]
fn what_is_neither_yes_nor_no_is_refused_in_one_line() {
    let text = FIG1.replace("gradient: ", "exact: maybe, gradient: ");
    let error = Topology::from_yaml(&text).unwrap_err().to_string();
    assert_eq!(
        error,
        "line 25: document: a job's `exact` or `elastic` is neither true nor false; write `exact: true`, or leave it out"
    );
}

#[test]
fn the_checker_finds_sums_in_switches_and_plans_for_the_other_kind() {
    let options = Options::new(schemes::INART);
    let (exact, other) = (with_exact(&fig1(), &[0]), fig1());
    let (made, usual) = (planned(&exact, &options), planned(&other, &options));
    let complaints = |topology: &Topology, plan: &Plan| {
        let violations = check(topology, plan).expect_err("the plan is spoilt");
        violations.iter().map(Violation::to_string).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(complaints(&other, &made), "exact: the plan is exact, its job is not exact");
    assert!(complaints(&exact, &usual).contains("exact: the plan is not exact, its job is exact"));
    let claimed = complaints(&exact, &Plan { exact: true, ..usual });
    assert!(claimed.contains("a switch adds it up, in an exact job"), "{claimed}");
    assert!(claimed.contains("trunk v2 to s1: an exact job has no sums in switches"), "{claimed}");
    let with_trunk = Plan { trunks: planned(&other, &options).trunks, ..made };
    assert!(complaints(&exact, &with_trunk).contains("no sums in switches"));
}

#[test]
fn a_running_plan_with_sums_is_not_kept() {
    let running = planned(&fig1(), &Options::new(schemes::INART));
    let exact = with_exact(&fig1(), &[0]);
    let options = Options { running: Some(&running), ..Options::new(schemes::INART) };
    let made = planned(&exact, &options);
    assert!(sums_nowhere(&made) && made.exact);
    assert!(made.moved.unwrap().flows > 0);
}

/// Two jobs of two workers with uplinks of 2 Mbps into one server of 3 Mbps, over a switch that adds up
/// whatever comes.
const SHARED: &str = "
name: shared
nodes: [{name: v, kind: switch, aggregation: 100 Mbps}, {name: s, kind: server, ingress: 3 Mbps},
  {name: a, kind: worker}, {name: b, kind: worker}, {name: c, kind: worker}, {name: d, kind: worker}]
links: [{ends: [a, v], rate: 2 Mbps}, {ends: [b, v], rate: 2 Mbps}, {ends: [c, v], rate: 2 Mbps},
  {ends: [d, v], rate: 2 Mbps}, {ends: [s, v], rate: 10 Mbps}]
jobs: [{name: first, workers: [a, b]}, {name: second, workers: [c, d]}]
";

fn side_by_side(topology: &Topology, options: &Options<'_>, order: Order) -> JobPlans {
    let jobs: Vec<&Job> = topology.jobs().iter().collect();
    let plans = plan_jobs(topology, &jobs, options, order).unwrap();
    check_jobs(topology, &plans).unwrap();
    for (plan, job) in plans.plans.iter().zip(jobs) {
        assert_eq!(plan.exact, job.exact);
        assert!(!job.exact || sums_nowhere(plan));
    }
    plans
}

#[test]
fn exact_jobs_beside_others() {
    let usual = Topology::from_yaml(SHARED).unwrap();
    let options = Options::new(schemes::INART);
    let rates = |topology: &Topology, order| {
        let plans = side_by_side(topology, &options, order);
        assert!(plans.is_proven_optimal());
        plans.plans.iter().map(|plan| (plan.rate_bps / 1e3).round() / 1e3).collect::<Vec<_>>()
    };
    assert_eq!(rates(&usual, Order::Together), [1.5, 1.5]);
    // A rate f of an exact job of two costs the server 2 f, one of the other job f.
    assert_eq!(rates(&with_exact(&usual, &[0]), Order::Together), [1.0, 1.0]);
    assert_eq!(rates(&with_exact(&usual, &[1]), Order::Together), [1.0, 1.0]);
    assert_eq!(rates(&with_exact(&usual, &[0, 1]), Order::Together), [0.75, 0.75]);
    assert_eq!(rates(&with_exact(&usual, &[1]), Order::InTurn), [2.0, 0.5]);
}

#[test]
fn bounds_of_jobs_of_both_kinds_hold_on_a_large_network_and_without_time() {
    let equipment = Equipment {
        servers: 4,
        workers: 24,
        rate_bps: 20e6,
        aggregation_bps: 15e6,
        ingress_bps: 20e6,
        delay_seconds: 0.0,
        gradient_bytes: 1000,
        seed: 3,
    };
    let topology = deal_jobs(&fat_tree(6, &equipment).unwrap(), 2, 12).unwrap();
    for exact in [0, 1] {
        for scheme in [schemes::INART, schemes::ATP] {
            // The checker holds the rates against the bounds.
            let hurried = Options { time_left: &|| 0.0, ..Options::new(scheme) };
            side_by_side(&with_exact(&topology, &[exact]), &hurried, Order::Together);
        }
    }
}
