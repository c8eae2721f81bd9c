//! The checker finds every way in which a plan can be corrupted.

#![allow(clippy::unwrap_used)]

use std::sync::LazyLock;

use inart_planner_aggregation::{Options, Plan, Violation, check, plan, schemes};
use inart_topologies::switched::Topology;

fn fig1() -> (Topology, Plan) {
    static MADE: LazyLock<(Topology, Plan)> = LazyLock::new(|| {
        let topology = Topology::from_yaml(include_str!("../../../topologies/fig1.yaml")).unwrap();
        let made = plan(&topology, &topology.jobs()[0], &Options::new(schemes::OPTIMIZED)).unwrap();
        (topology, made)
    });
    MADE.clone()
}

/// Corrupts the Fig. 1 plan and returns the checker's findings.
fn spoilt(spoil: impl FnOnce(&mut Plan)) -> String {
    let (topology, mut plan) = fig1();
    spoil(&mut plan);
    let violations = check(&topology, &plan).expect_err("the plan is spoilt");
    violations.iter().map(Violation::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_good_plan_passes_and_survives_json() {
    let (topology, plan) = fig1();
    let read = Plan::from_json(&plan.to_json()).unwrap();
    assert_eq!(read, plan);
    check(&topology, &read).unwrap();
}

#[test]
fn a_plan_for_another_topology() {
    assert!(spoilt(|plan| plan.topology = "fig2".into()).contains("for topology \"fig2\", not \"fig1\""));
    assert!(spoilt(|plan| plan.job = "vgg".into()).contains("no job \"vgg\""));
}

#[test]
fn shares() {
    assert!(spoilt(|plan| plan.shards[0].share += 0.1).contains("sum to"));
    assert!(spoilt(|plan| plan.shards[0].share = -0.5).contains("not from 0 to 1"));
    assert!(spoilt(|plan| plan.shards[0].share = f64::NAN).contains("not from 0 to 1"));
    assert!(spoilt(|plan| plan.shards[0].server = "s9".into()).contains("not a server of the job"));
    assert!(spoilt(|plan| plan.shards[1].server = "s1".into()).contains("listed twice"));
}

#[test]
fn flows_and_paths() {
    assert!(spoilt(|plan| drop(plan.flows.remove(0))).contains("missing"));
    assert!(spoilt(|plan| plan.flows.push(plan.flows[0].clone())).contains("listed twice"));
    assert!(spoilt(|plan| plan.flows[0].worker = "w9".into()).contains("not a worker of the job"));
    assert!(spoilt(|plan| plan.flows[0].aggregator = Some("s1".into())).contains("not a switch"));
    assert!(spoilt(|plan| plan.flows[0].path.clear()).contains("does not lead"));
    assert!(spoilt(|plan| plan.flows[0].path[0] = "nowhere".into()).contains("unknown node"));
    let direct =
        |plan: &Plan| plan.flows.iter().position(|f| f.aggregator.is_none() && f.worker < "w5".into());
    let detour = |path: &[&str]| {
        let path: Vec<String> = path.iter().map(ToString::to_string).collect();
        spoilt(|plan| {
            let at = direct(plan).expect("Fig. 1's best plan has a direct flow in rack 1");
            let (worker, server) = (plan.flows[at].worker.clone(), plan.flows[at].server.clone());
            plan.flows[at].path = [vec![worker], path, vec![server]].concat();
        })
    };
    assert!(detour(&["v2"]).contains("no link"));
    assert!(detour(&["v1", "w5", "v2"]).contains("does not forward"));
    assert!(detour(&["v1", "v2", "v1", "v2"]).contains("visits a node twice"));
}

#[test]
fn trunks() {
    assert!(spoilt(|plan| plan.trunks.clear()).contains("the sum goes nowhere"));
    assert!(spoilt(|plan| plan.trunks.push(plan.trunks[0].clone())).contains("listed twice"));
    assert!(spoilt(|plan| drop(plan.trunks[0].workers.pop())).contains("its workers are not"));
    assert!(spoilt(|plan| plan.trunks[0].path.reverse()).contains("does not lead"));
    let doubled = |plan: &mut Plan| {
        let first = plan.trunks[0].workers[0].clone();
        plan.trunks[0].workers.push(first);
    };
    assert!(spoilt(doubled).contains("its workers are not"));
}

#[test]
fn numbers() {
    let faster = spoilt(|plan| plan.rate_bps *= 1.01);
    assert!(faster.contains("link v1->v2") && faster.contains("rate_bps"), "{faster}");
    assert!(spoilt(|plan| plan.rate_bps *= 0.9).contains("rate_bps"));
    assert!(spoilt(|plan| plan.rate_bps = f64::NAN).contains("positive"));
    assert!(spoilt(|plan| plan.load[0].used_bps *= 0.5).contains("load of"));
    assert!(spoilt(|plan| plan.load[0].capacity_bps *= 2.0).contains("capacity of"));
    assert!(spoilt(|plan| plan.load[0].resource = "link w1->w2".into()).contains("does not use"));
    assert!(spoilt(|plan| plan.bounds.integral_bps = 1e9).contains("not a bound"));
    assert!(spoilt(|plan| plan.bounds.integral_bps = 9e9).contains("above the LP"));
}

#[test]
fn malformed_text() {
    for text in ["", "{}", "[1]", "{\"scheme\": 3}", "null"] {
        let error = Plan::from_json(text).unwrap_err().to_string();
        assert!(error.starts_with("not a plan") && !error.contains('\n'), "{error}");
    }
}

#[test]
fn a_group_beyond_the_bitmap_leaves_as_several_sums() {
    let workers: String = (0..150).map(|n| format!("  - {{name: w{n}, kind: worker}}\n")).collect();
    let links: String = (0..150).map(|n| format!("  - {{ends: [w{n}, v], rate: 1 Gbps}}\n")).collect();
    let topology = Topology::from_yaml(&format!(
        "name: star\nnodes:\n  - {{name: v, kind: switch, aggregation_capacity: 1 Tbps}}\n  - {{name: s, kind: server, ingress_capacity: 300 Mbps}}\n{workers}links:\n  - {{ends: [s, v], rate: 1 Gbps}}\n{links}"
    ))
    .unwrap();
    let made = plan(&topology, &topology.jobs()[0], &Options::new(schemes::OPTIMIZED)).unwrap();
    check(&topology, &made).unwrap();
    // 150 workers in three bitmaps.
    assert_eq!((made.trunks.len(), made.rate_bps, made.is_proven_optimal()), (1, 100e6, true));
    let mut spoilt = made;
    spoilt.rate_bps = 300e6;
    assert!(check(&topology, &spoilt).is_err());
}

#[test]
fn a_load_that_is_listed_twice() {
    let found = spoilt(|plan| plan.load.push(plan.load[0].clone()));
    let (_, plan) = fig1();
    assert_eq!(found, format!("load of {}: listed twice", plan.load[0].resource));
}
