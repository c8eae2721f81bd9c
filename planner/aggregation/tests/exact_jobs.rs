//! Exact jobs: how they are declared, and that plans are equal for them.

#![allow(clippy::unwrap_used)]

use inart_planner_aggregation::{Levels, Options, Plan, Violation, check, plan, schemes};
use inart_topologies::switched::generate::deal_jobs;
use inart_topologies::switched::{Job, Topology};

const FIG1: &str = include_str!("../../../topologies/fig1.yaml");

fn fig1() -> Topology {
    Topology::from_yaml(FIG1).unwrap()
}

/// Returns the network with the jobs of these numbers exact.
fn with_exact(topology: &Topology, exact: &[usize]) -> Topology {
    let jobs = topology.jobs().iter().enumerate();
    topology.with_jobs(jobs.map(|(n, job)| Job { exact: exact.contains(&n), ..job.clone() }).collect())
}

fn planned(topology: &Topology, options: &Options<'_>) -> Plan {
    let made = plan(topology, &topology.jobs()[0], options).unwrap();
    check(topology, &made).unwrap();
    made
}

#[test]
fn exact_sums_are_made_in_switches_like_any_others() {
    let exact = with_exact(&fig1(), &[0]);
    let one = schemes::ALL.iter().map(|&scheme| Options::new(scheme));
    for options in one.chain([Options { levels: Levels::Two, ..Options::new(schemes::OPTIMIZED) }]) {
        let (made, usual) = (planned(&exact, &options), planned(&fig1(), &options));
        assert!(made.exact && !usual.exact);
        assert_eq!((made.rate_bps, made.bounds), (usual.rate_bps, usual.bounds), "{options:?}");
        assert_eq!((made.flows, made.trunks), (usual.flows, usual.trunks), "{options:?}");
    }
}

#[test]
fn plans_and_topologies_say_so_where_it_is_so() {
    let options = Options::new(schemes::OPTIMIZED);
    let (exact, other) = (with_exact(&fig1(), &[0]), fig1());
    let (made, usual) = (planned(&exact, &options), planned(&other, &options));
    assert!(made.to_json().contains(r#""exact":true"#) && !usual.to_json().contains("exact"));
    assert_eq!(Plan::from_json(&made.to_json()).unwrap(), made);
    for text in [exact.to_yaml(), exact.to_json()] {
        assert!(Topology::from_yaml(&text).unwrap().jobs()[0].exact, "{text}");
    }
    assert!(exact.to_yaml().contains(", sum: exact}"));
    assert!(!other.to_yaml().contains("exact") && !other.to_json().contains("exact"));
    let parts = deal_jobs(&exact, 2, 3).unwrap();
    assert!(parts.jobs().iter().all(|job| job.exact));
}

#[test]
fn other_ways_to_say_so_are_refused_in_one_line() {
    for (key, expected) in [
        ("sum: about", "unknown variant `about`; write `sum: exact`, or leave it out"),
        ("exact: true", "unknown key `exact`; write `sum: exact`"),
        ("elastic: maybe", "elastic: neither true nor false; write `elastic: true`, or leave it out"),
    ] {
        let text = FIG1.replace("gradient: ", &format!("{key}, gradient: "));
        let error = Topology::from_yaml(&text).unwrap_err().to_string();
        assert_eq!(error, format!("line 25: document: {expected}"));
    }
}

#[test]
fn the_checker_finds_plans_for_the_other_kind() {
    let options = Options::new(schemes::OPTIMIZED);
    let (exact, other) = (with_exact(&fig1(), &[0]), fig1());
    let complaints = |topology: &Topology, plan: &Plan| {
        let violations = check(topology, plan).expect_err("the plan is for another kind of job");
        violations.iter().map(Violation::to_string).collect::<Vec<_>>().join("\n")
    };
    let (made, usual) = (planned(&exact, &options), planned(&other, &options));
    assert_eq!(complaints(&other, &made), "exact: the plan is exact, its job is not exact");
    assert_eq!(complaints(&exact, &usual), "exact: the plan is not exact, its job is exact");
}
