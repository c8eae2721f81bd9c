//! Rollback to an older plan, on a network whose links may have changed since.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use inart_controller::{Controller, InstallError, PortMap, Records};
use inart_planner_aggregation::{Options, plan, schemes};
use inart_targets::Memory;
use inart_topologies::switched::Topology;
use inart_wire::{JobId, ValuesPerFrame};
use support::pushes::{network, plan_versions, planned, walks};
use support::{LIMITS, controller, fig1, job, now};

#[test]
fn rollback_goes_back_push_by_push_under_new_plan_versions() {
    let topology = fig1();
    let mut controller = controller(&topology, Records::default());
    let pushes = [schemes::ATP, schemes::LBMM, schemes::OPTIMIZED].map(|scheme| job(1, &planned(scheme)));
    for push in &pushes {
        now(controller.install(std::slice::from_ref(push))).unwrap();
    }
    let job = JobId::from(1);
    for (plan_version, back_to) in [(4, &pushes[1]), (5, &pushes[0])] {
        let report = now(controller.rollback(job)).unwrap();
        assert_eq!(plan_versions(&report), [plan_version]);
        walks(&topology, &network(&mut controller), back_to, plan_version).unwrap();
    }
    let error = now(controller.rollback(job)).unwrap_err();
    assert!(matches!(error, InstallError::NoEarlierPush { .. }), "{error}");
}

/// Returns Fig. 1 with a switch and hosts added before the others, so that ports and addresses change.
fn rewired() -> Topology {
    let text = support::FIG1
        .replace("nodes:\n", "nodes:\n  - {name: v0, kind: switch}\n  - {name: w7, kind: worker}\n")
        .replace(
            "links:\n",
            "links:\n  - {ends: [w7, v1], rate: 6 Gbps}\n  - {ends: [v0, v2], rate: 6 Gbps}\n",
        );
    Topology::from_yaml(&text).unwrap()
}

/// Returns the same switches and records under another topology.
fn moved(from: &mut Controller<Memory>, topology: &Topology) -> Controller<Memory> {
    let ports = PortMap::new(topology).unwrap();
    let kept = from.switches().clone();
    let switches = ports
        .switches()
        .map(|name| (name.to_owned(), kept.get(name).cloned().unwrap_or_else(|| Memory::new(LIMITS))));
    let records = from.records().clone();
    Controller::new(topology.clone(), ValuesPerFrame::N64, LIMITS, switches.collect(), records).unwrap()
}

/// A rolled-back job gets the older plan on the current ports; shared entries stay as they are.
#[test]
fn rollback_leaves_shared_entries_to_the_current_topology() {
    let mut older = controller(&fig1(), Records::default());
    let [one, two] = [schemes::ATP, schemes::LBMM].map(|scheme| job(1, &planned(scheme)));
    now(older.install(std::slice::from_ref(&one))).unwrap();
    let today = rewired();
    let mut newer = moved(&mut older, &today);
    now(newer.install(&[two])).unwrap();
    assert_eq!(newer.records().newest_topology(), Some(today.to_yaml().as_str()));
    let shared = inart_controller::tables::shared(newer.ports());
    let report = now(newer.rollback(JobId::from(1))).unwrap();
    assert_eq!(plan_versions(&report), [3]);
    let tables = network(&mut newer);
    for (switch, shared) in shared {
        let held = &tables[&switch];
        assert_eq!((&held.mac, &held.switch_ports), (&shared.mac, &shared.switch_ports), "{switch}");
        assert_eq!(
            held.groups[&inart_controller::tables::FLOOD],
            shared.groups[&inart_controller::tables::FLOOD]
        );
    }
    walks(&today, &tables, &one, 3).unwrap();
}

#[test]
fn a_rollback_that_does_not_hold_today_names_the_differences() {
    let mut older = controller(&fig1(), Records::default());
    now(older.install(&[job(1, &planned(schemes::OPTIMIZED))])).unwrap();
    for (from, to, says) in [
        ("[w1, v1]", "[w1, v2]", "since the topology has changed (link v1-w1 was removed"),
        ("w6", "w9", "(node w6 was removed"),
    ] {
        let today = Topology::from_yaml(&support::FIG1.replace(from, to)).unwrap();
        let mut newer = moved(&mut older, &today);
        let plan = plan(&today, &today.jobs()[0], &Options::new(schemes::LBMM)).unwrap();
        now(newer.install(&[job(1, &plan)])).unwrap();
        let (before, recorded) = (network(&mut newer), newer.records().clone());
        let error = now(newer.rollback(JobId::from(1))).unwrap_err().to_string();
        assert!(error.starts_with("the previous plan of job digits cannot be installed again"), "{error}");
        assert!(error.contains(says) && !error.contains('\n'), "{error}");
        assert_eq!((network(&mut newer), newer.records()), (before, &recorded));
    }
}

/// The previous plan under the same number may be another job's, from an older topology.
#[test]
fn a_rollback_never_installs_another_job() {
    let called = |name: &str| Topology::from_yaml(&support::FIG1.replace("digits", name)).unwrap();
    let (letters, digits) = (called("letters"), called("digits"));
    let on = |topology: &Topology| plan(topology, &topology.jobs()[0], &Options::new(schemes::ATP)).unwrap();
    let mut older = controller(&letters, Records::default());
    now(older.install(&[job(1, &on(&letters))])).unwrap();
    let mut newer = moved(&mut older, &digits);
    now(newer.install(&[job(1, &on(&digits))])).unwrap();
    let error = now(newer.rollback(JobId::from(1))).unwrap_err();
    assert!(matches!(error, InstallError::NoEarlierPush { .. }), "{error}");
}
