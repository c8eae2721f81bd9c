//! Plans of two levels: where they are provably better, the checker's refusals, and that they are never worse
//! than one level nor above their bound.

#![allow(clippy::unwrap_used)]

use crate::networks;

use std::path::Path;

use inart_planner_aggregation::{Levels, Options, Plan, PlanError, Results, Violation, check, plan, schemes};
use inart_topologies::switched::Topology;
use proptest::prelude::*;

/// Two racks of two workers, and a server behind a core; every link as fast as one worker sends.
const TREE: &str = "
name: tree
nodes: [{name: r1, kind: switch, aggregation_capacity: 2 Gbps},
  {name: r2, kind: switch, aggregation_capacity: 2 Gbps},
  {name: core, kind: switch, aggregation_capacity: 2 Gbps}, {name: s, kind: server},
  {name: a, kind: worker}, {name: b, kind: worker}, {name: c, kind: worker}, {name: d, kind: worker}]
links: [{ends: [a, r1], rate: 1 Gbps}, {ends: [b, r1], rate: 1 Gbps}, {ends: [c, r2], rate: 1 Gbps},
  {ends: [d, r2], rate: 1 Gbps}, {ends: [r1, core], rate: 1 Gbps}, {ends: [r2, core], rate: 1 Gbps},
  {ends: [core, s], rate: 1 Gbps}]
";

fn made(topology: &Topology, options: &Options<'_>) -> Plan {
    let plan = plan(topology, topology.jobs().last().unwrap(), options).unwrap();
    check(topology, &plan).unwrap();
    plan
}

fn two() -> Options<'static> {
    Options { levels: Levels::Two, ..Options::new(schemes::OPTIMIZED) }
}

#[test]
fn two_racks_behind_a_slow_link_send_twice_as_fast() {
    let topology = Topology::from_yaml(TREE).unwrap();
    let one = made(&topology, &Options::new(schemes::OPTIMIZED));
    assert!(one.is_proven_optimal());
    assert_eq!(one.rate_bps, 0.5e9);
    for equal_shares in [false, true] {
        let both = made(&topology, &Options { equal_shares, ..two() });
        assert_eq!((both.rate_bps, both.bounds.two_levels_bps), (1e9, Some(1e9)));
        assert_eq!(both.bounds.integral_bps, one.bounds.integral_bps);
        assert!(both.is_proven_optimal());
        let ends = both.trunks.iter().map(|t| (&*t.aggregator, t.workers.len(), &**t.path.last().unwrap()));
        assert_eq!(ends.collect::<Vec<_>>(), [("r1", 2, "core"), ("r2", 2, "core"), ("core", 4, "s")]);
    }
}

#[test]
fn a_plan_says_its_levels_only_where_it_has_two() {
    let topology = Topology::from_yaml(TREE).unwrap();
    let (one, both) = (made(&topology, &Options::new(schemes::OPTIMIZED)), made(&topology, &two()));
    assert!(!one.to_json().contains("level"));
    assert!(both.to_json().contains("\"levels\":2") && both.to_json().contains("\"two_levels_bps\":1"));
    for plan in [one, both] {
        assert_eq!(Plan::from_json(&plan.to_json()).unwrap(), plan);
    }
}

#[test]
fn other_schemes_have_one_level() {
    let topology = Topology::from_yaml(TREE).unwrap();
    for &scheme in schemes::ALL.iter().filter(|scheme| scheme.promises().levels < 2) {
        let options = Options { scheme, ..two() };
        let error = plan(&topology, &topology.jobs()[0], &options).unwrap_err();
        assert_eq!(error, PlanError::Levels { scheme: scheme.name() });
    }
}

/// Corrupts the two-level plan of the tree and returns the checker's findings.
fn spoilt(spoil: impl FnOnce(&mut Plan)) -> String {
    let topology = Topology::from_yaml(TREE).unwrap();
    let mut plan = made(&topology, &two());
    spoil(&mut plan);
    let violations = check(&topology, &plan).expect_err("the plan is spoilt");
    violations.iter().map(Violation::to_string).collect::<Vec<_>>().join("\n")
}

/// The trunk from a switch.
fn trunk<'p>(plan: &'p mut Plan, aggregator: &str) -> &'p mut inart_planner_aggregation::plan::Trunk {
    plan.trunks.iter_mut().find(|trunk| trunk.aggregator == aggregator).unwrap()
}

fn names(path: &[&str]) -> Vec<String> {
    path.iter().map(ToString::to_string).collect()
}

#[test]
fn a_second_switch_without_a_trunk() {
    let found = spoilt(|plan| plan.trunks.retain(|trunk| trunk.aggregator != "core"));
    assert!(found.contains("trunk core to s: missing: gradients are summed there"), "{found}");
}

#[test]
fn a_third_level_and_a_circle() {
    let found = spoilt(|plan| {
        trunk(plan, "r1").path = names(&["r1", "core", "r2"]);
        trunk(plan, "r2").workers = names(&["a", "b", "c", "d"]);
    });
    assert!(
        found.contains("trunk core to s: a gradient is summed there for the 3rd time, in a plan of 2 levels"),
        "{found}"
    );
    let found = spoilt(|plan| trunk(plan, "core").path = names(&["core", "r1"]));
    for at in ["core", "r1"] {
        let expected = format!("trunk {at} to s: its sum goes in a cycle, or waits for one that does");
        assert!(found.contains(&expected), "{found}");
    }
    let found = spoilt(|plan| trunk(plan, "r1").path = names(&["r1"]));
    assert!(found.contains("trunk r1 to s: its path does not lead from r1 to s"), "{found}");
}

#[test]
fn sums_that_arrive_where_their_gradients_arrived() {
    let found = spoilt(|plan| {
        // Its gradient by way of r2, and its sum over the same link.
        let flow = plan.flows.iter_mut().find(|flow| flow.worker == "c").unwrap();
        (flow.aggregator, flow.path) = (Some("r1".into()), names(&["c", "r2", "core", "r1"]));
        trunk(plan, "r1").workers = names(&["a", "b", "c"]);
        trunk(plan, "r1").path = names(&["r1", "core", "r2"]);
        trunk(plan, "r2").workers = names(&["a", "b", "c", "d"]);
        trunk(plan, "r2").path = names(&["r2", "core", "s"]);
        plan.trunks.retain(|trunk| trunk.aggregator != "core");
    });
    let expected = "path r2 core s for s: frames of c arrive at core from r2 on two paths: a switch distinguishes them by the port only";
    assert_eq!(found, expected);
}

#[test]
fn workers_of_a_second_sum() {
    for wrong in [&["a", "b"][..], &["a", "b", "c"], &["a", "b", "c", "d", "d"], &[]] {
        let found = spoilt(|plan| trunk(plan, "core").workers = names(wrong));
        assert!(found.contains("trunk core to s: its workers are not"), "{found}");
    }
}

#[test]
fn levels_and_bounds_that_do_not_fit() {
    assert!(spoilt(|plan| plan.levels = 0).contains("levels: 0, not 1 or more"));
    let found = spoilt(|plan| (plan.levels, plan.bounds.two_levels_bps) = (1, None));
    assert!(
        found.contains("trunk core to s: a gradient is summed there for the 2nd time, in a plan of 1 level"),
        "{found}"
    );
    assert!(spoilt(|plan| plan.bounds.two_levels_bps = None).contains("bounds.two_levels_bps: plans of two"));
    assert!(spoilt(|plan| plan.bounds.two_levels_bps = Some(0.9e9)).contains("bounds.two_levels_bps: 9"));
    assert!(
        spoilt(|plan| plan.bounds.two_levels_bps = Some(f64::NAN)).contains("bounds.two_levels_bps: NaN")
    );
    assert!(spoilt(|plan| plan.bounds.integral_bps = 1.1e9).contains("one level is above"));
}

/// A second switch aggregates, and its links carry, one unit per incoming sum.
#[test]
fn loads_of_a_second_switch() {
    let topology = Topology::from_yaml(TREE).unwrap();
    let plan = made(&topology, &two());
    let load = |name: &str| plan.load.iter().find(|load| load.resource == name).map(|load| load.used_bps);
    assert_eq!(load("switch core"), Some(2e9));
    assert_eq!(load("switch r1"), Some(2e9));
    assert_eq!(load("link r1->core"), Some(1e9));
    assert_eq!(load("link core->s"), Some(1e9));
    let crowded = TREE.replace(
        "name: core, kind: switch, aggregation_capacity: 2",
        "name: core, kind: switch, aggregation_capacity: 1",
    );
    let crowded = Topology::from_yaml(&crowded).unwrap();
    let violations = check(&crowded, &plan).unwrap_err();
    assert!(
        violations.iter().any(|v| v.to_string() == "switch core: 2 Gbps used of 1 Gbps"),
        "{violations:?}"
    );
}

/// The reference instances: reached rates when this was written; raise them with the planner.
#[test]
fn gains_on_the_reference_instances() {
    let folder = Path::new(env!("INART_ROOT")).join("../shared/instances");
    let (counted, ignored) = (Results::Counted, Results::Ignored);
    for (name, results, one_mbps, two_mbps) in [
        ("k6-hom-s1-w10", counted, 16.0, 18.0),
        ("k6-hom-s1-w30", counted, 9.0, 11.25),
        ("k6-hom-s1-w50", counted, 7.2, 7.65),
        ("k6-het-s1-w30", counted, 9.0, 10.113),
        ("tight-k4-S2-s1-w10", ignored, 4.152, 5.3),
        ("tight-k4-S2-s1-w10", counted, 4.152, 4.5),
    ] {
        let Ok(text) = read(&folder.join(format!("{name}.json"))) else {
            eprintln!("skipped: no reference instances in {}", folder.display());
            return;
        };
        let topology = Topology::from_yaml(&crate::with_units::with_units(&text).unwrap()).unwrap();
        let plan = made(&topology, &Options { results, ..two() });
        let rate_mbps = plan.rate_bps / 1e6;
        assert!(rate_mbps >= two_mbps - 1e-3, "{name}: {rate_mbps}");
        assert!(plan.bounds.integral_bps / 1e6 >= one_mbps - 1e-3, "{name}: {}", plan.bounds.integral_bps);
    }
}

#[expect(clippy::disallowed_methods, reason = "the planner reads no files, its tests may")]
fn read(path: &Path) -> std::io::Result<String> {
    std::fs::read_to_string(path)
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: proptest::test_runner::RngSeed::Fixed(5),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn two_are_no_worse_than_one(text: &str, seed: u64, equal_shares: bool) -> Result<(), TestCaseError> {
    let topology = Topology::from_yaml(text).unwrap();
    let job = topology.jobs().last().unwrap();
    let options = |levels| Options { levels, seed, equal_shares, ..Options::new(schemes::OPTIMIZED) };
    let Ok(one) = plan(&topology, job, &options(Levels::One)) else { return Ok(()) };
    let both = plan(&topology, job, &options(Levels::Two)).unwrap();
    let checked = check(&topology, &both);
    prop_assert!(checked.is_ok(), "{:?}\n{}", checked, topology.to_yaml());
    prop_assert!(both.rate_bps >= one.rate_bps * (1.0 - 1e-9), "{} < {}", both.rate_bps, one.rate_bps);
    prop_assert!(both.rate_bps <= both.bound_bps() * (1.0 + 1e-9));
    prop_assert!(one.rate_bps <= both.bounds.integral_bps * (1.0 + 1e-6));
    Ok(())
}

proptest! {
    #![proptest_config(config(15))]

    #[test]
    fn two_levels_are_never_worse_than_one_nor_above_their_bound(
        text in networks::document(), seed in 0u64..1000, equal_shares: bool,
    ) {
        two_are_no_worse_than_one(&text, seed, equal_shares)?;
    }
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    #[ignore = "soak: about 25 s"]
    fn two_levels_of_sixty_networks_are_never_worse_than_one_nor_above_their_bound(
        text in networks::document(), seed in 0u64..1000, equal_shares: bool,
    ) {
        two_are_no_worse_than_one(&text, seed, equal_shares)?;
    }
}
