//! Changes of a running job's plan: both plans walk side by side, in slots of their own, and properties
//! that cannot change are named.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use std::collections::BTreeSet;

use inart_controller::{
    Controller, LiveChange, LiveChangeError, Network, PortMap, Records, live_change, without,
};
use inart_planner_aggregation::{Options, Plan, Scheme, plan, schemes};
use inart_protocol_aggregation::Assignment;
use inart_tables::Limits;
use inart_targets::Memory;
use inart_topologies::switched::Topology;
use inart_wire::{JobId, PlanVersion, ValuesPerFrame};
use support::walker::{Walker, check_mac, check_own_slots};
use support::{LIMITS, fig1, job, now, switches};

const JOB: fn() -> JobId = || JobId::from(1);

/// Returns a plan of Fig. 1's job with equal shares.
fn planned(scheme: &dyn Scheme) -> Plan {
    let topology = fig1();
    let options = Options { equal_shares: true, ..Options::new(scheme) };
    plan(&topology, &topology.jobs()[0], &options).unwrap()
}

/// Returns a controller that has installed ATP's plan, the switches' tables, and the hosts' assignment.
fn installed(limits: Limits) -> (Controller<Memory>, Network, Assignment) {
    let topology = fig1();
    let (switches, values) = (switches(&topology, limits), ValuesPerFrame::N64);
    let mut controller = Controller::new(topology, values, limits, switches, Records::default()).unwrap();
    let report = now(controller.install(&[job(1, &planned(schemes::ATP))])).unwrap();
    let assignment = report.assignments[0].clone();
    (controller, report.desired, assignment)
}

fn change(
    (controller, current, active): &(Controller<Memory>, Network, Assignment),
    plan: Plan,
) -> Result<LiveChange, LiveChangeError> {
    let record = &controller.records().jobs[&JOB()];
    live_change(controller.fabric(), current, record, active, plan)
}

fn walks(topology: &Topology, tables: &Network, plan: &Plan, plan_version: u16) -> Result<(), String> {
    let ports = PortMap::new(topology).unwrap();
    Walker::new(topology, tables, &ports, plan, JOB(), PlanVersion::from(plan_version)).check()?;
    check_mac(tables, &ports)?;
    check_own_slots(tables)
}

#[test]
fn both_plans_walk_until_the_one_before_is_removed() {
    let (topology, before) = (fig1(), installed(LIMITS));
    for scheme in [schemes::LBMM, schemes::OPTIMIZED] {
        let wanted = planned(scheme);
        let change = change(&before, wanted.clone()).unwrap();
        assert_eq!((change.from.get(), change.to.plan_version.get()), (1, 2));
        assert_eq!(change.kept, before.1, "nothing is stale");
        walks(&topology, &change.both, &planned(schemes::ATP), 1).unwrap();
        walks(&topology, &change.both, &wanted, 2).unwrap();
        let after = without(&change.both, JOB(), change.from);
        walks(&topology, &after, &wanted, 2).unwrap();
        assert!(walks(&topology, &after, &planned(schemes::ATP), 1).is_err());
        // And back.
        assert_eq!(without(&change.both, JOB(), change.to.plan_version), before.1);
        // The hosts keep their roles, and cut tensors as before.
        let Assignment { plan_version, shards, .. } = change.assignment.clone();
        assert_eq!(plan_version, change.to.plan_version);
        let rates = shards.iter().map(|shard| shard.rate_bps);
        let mut same = before.2.clone();
        same.plan_version = plan_version;
        same.shards.iter_mut().zip(rates).for_each(|(shard, rate)| shard.rate_bps = rate);
        assert_eq!(change.assignment, same);
    }
}

/// After a second installation switches still hold the first plan version, which no host uses.
#[test]
fn a_change_starts_with_the_removal_of_the_previous_plan_version() {
    let (mut controller, ..) = installed(LIMITS);
    let report = now(controller.install(&[job(1, &planned(schemes::OPTIMIZED))])).unwrap();
    let held = |network: &Network| -> BTreeSet<u16> {
        network.values().flat_map(|tables| tables.plan_versions(JOB())).map(PlanVersion::get).collect()
    };
    assert_eq!(held(&report.desired), [1, 2].into());
    let before = (controller, report.desired, report.assignments[0].clone());
    let change = change(&before, planned(schemes::LBMM)).unwrap();
    assert_eq!((held(&change.kept), held(&change.both)), ([2].into(), [2, 3].into()));
}

#[test]
fn a_switch_without_room_for_both_is_named() {
    let needed = installed(LIMITS).1["v1"].slot_ranges().map(|(_, range)| range.base + range.len).max();
    let tight = installed(Limits { slots: needed.unwrap(), ..LIMITS });
    let error = change(&tight, planned(schemes::OPTIMIZED)).unwrap_err().to_string();
    assert!(error.starts_with("switch v1: job digits needs ") && !error.contains('\n'), "{error}");
    assert!(error.contains("slots, 0 of 128 are free next to the other jobs"), "{error}");
    // A plan without sums has room.
    change(&tight, planned(schemes::LBMM)).unwrap();
    let steer = tight.1["v2"].steer.len();
    let small = Limits { steer: steer + 1, ..LIMITS };
    let error = change(&installed(small), planned(schemes::LBMM)).unwrap_err().to_string();
    assert!(error.contains("table steer would hold"), "{error}");
}

#[test]
fn fixed_properties_of_running_jobs_are_named() {
    let before = installed(LIMITS);
    let refusal = |plan: Plan| change(&before, plan).unwrap_err().to_string();
    let lbmm = planned(schemes::LBMM);

    let mut shares = lbmm.clone();
    (shares.shards[0].share, shares.shards[1].share) = (0.75, 0.25);
    let error = refusal(shares);
    assert!(
        error.starts_with("job digits: the share of server s1 is 0.5 in the active plan and 0.75"),
        "{error}"
    );

    let mut order = lbmm.clone();
    order.shards.reverse();
    let error = refusal(order);
    assert!(error.contains("the list of servers is s1 (") && error.contains(" and s2 ("), "{error}");

    let error = refusal(planned(schemes::ATP));
    assert_eq!(error, "job digits: this plan is already active, under plan version 1");

    let mut broken = lbmm.clone();
    broken.flows.pop();
    let error = refusal(broken);
    assert!(error.contains("does not hold on this topology"), "{error}");

    let mut unknown = lbmm.clone();
    unknown.job = "letters".into();
    assert!(refusal(unknown).contains("letters"));
}

/// Hosts cut tensors by the rounded shares of a solver.
#[test]
fn shares_that_differ_by_rounding_stay_as_they_are() {
    let before = installed(LIMITS);
    let mut rounded = planned(schemes::LBMM);
    rounded.shards[0].share += 1e-12;
    rounded.shards[1].share -= 1e-12;
    let change = change(&before, rounded).unwrap();
    assert_eq!(change.assignment.shards[0].share, 0.5);
}

/// Rates are not checked: the plan may be made for other background traffic.
#[test]
fn a_plan_for_other_background_traffic_is_accepted() {
    let busy = support::FIG1.replace("jobs:\n", "background: [{link: [v1, v2], rate: 1 Gbps}]\njobs:\n");
    let busy = Topology::from_yaml(&busy).unwrap();
    let slower = plan(&busy, &busy.jobs()[0], &Options::new(schemes::LBMM)).unwrap();
    let before = installed(LIMITS);
    assert!(slower.rate_bps < planned(schemes::LBMM).rate_bps);
    let change = change(&before, slower.clone()).unwrap();
    let rate: f64 = change.assignment.shards.iter().map(|shard| shard.rate_bps).sum();
    assert!((rate - slower.rate_bps).abs() < 1.0, "{rate} {}", slower.rate_bps);
}

/// Hosts may be under either plan version by the records: an installation leaves both alone, and reuses
/// neither number.
#[test]
fn a_push_during_a_change_leaves_both_plan_versions_alone() {
    let (topology, folder) = (fig1(), tempfile::TempDir::new().unwrap());
    let records = || Records::open(folder.path(), "fig1").unwrap();
    let mut first = support::controller(&topology, records());
    let atp = job(1, &planned(schemes::ATP));
    let report = now(first.install(std::slice::from_ref(&atp))).unwrap();
    let before = (first, report.desired, report.assignments[0].clone());
    let both = change(&before, planned(schemes::LBMM)).unwrap().both;
    let mut switches = before.0.into_parts().0;
    switches.iter_mut().for_each(|(name, switch)| switch.tables = both[name].clone());
    let file = folder.path().join("fig1.json");
    let mut kept: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    kept["jobs"]["1"]["change"] = serde_json::json!({"stage": "moving", "other": 2});
    std::fs::write(&file, kept.to_string()).unwrap();

    let values = ValuesPerFrame::N64;
    let mut next = Controller::new(topology.clone(), values, LIMITS, switches, records()).unwrap();
    let again = now(next.install(std::slice::from_ref(&atp))).unwrap();
    assert_eq!((again.updates(), again.assignments[0].plan_version.get()), (0, 1));
    let other = job(1, &planned(schemes::OPTIMIZED));
    let third = now(next.install(std::slice::from_ref(&other))).unwrap();
    assert_eq!(third.assignments[0].plan_version.get(), 3);
    for (plan, plan_version) in [(&atp.plan, 1), (&planned(schemes::LBMM), 2), (&other.plan, 3)] {
        walks(&topology, &third.desired, plan, plan_version).unwrap();
    }
    // The next installation finds that no host uses the two before.
    let fourth = now(next.install(std::slice::from_ref(&atp))).unwrap();
    assert_eq!(fourth.assignments[0].plan_version.get(), 4);
    let left: Vec<_> = fourth.desired["v1"].plan_versions(JOB()).into_iter().map(PlanVersion::get).collect();
    assert_eq!(left, [3, 4]);
}
