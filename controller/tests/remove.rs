//! Removal of jobs: their slots become free, other jobs and shared entries stay, and a failure changes
//! nothing.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use std::collections::BTreeSet;

use inart_controller::{Controller, HeldJob, InstallError, JobPlan, Network, NotHeld, Records, find_held};
use inart_planner_aggregation::{Options, Scheme, plan, schemes};
use inart_tables::Limits;
use inart_targets::{Failpoint, Memory, Running};
use inart_topologies::switched::Topology;
use inart_wire::{JobId, PlanVersion, ValuesPerFrame};
use support::walker::{check_mac, check_own_slots};
use support::{LIMITS, fig1, job, now};

fn planned(number: u16, scheme: &dyn Scheme) -> JobPlan {
    let topology = fig1();
    job(number, &plan(&topology, &topology.jobs()[0], &Options::new(scheme)).unwrap())
}

/// Returns switches with room for two plans of two sums each and no more.
fn narrow() -> Controller<Memory> {
    let limits = Limits { slots: 256, ..LIMITS };
    let switches = support::switches(&fig1(), limits);
    Controller::new(fig1(), ValuesPerFrame::N64, limits, switches, Records::default()).unwrap()
}

fn network(controller: &mut Controller<Memory>) -> Network {
    controller.switches().iter().map(|(name, switch)| (name.clone(), switch.tables.clone())).collect()
}

fn only(number: u16) -> BTreeSet<JobId> {
    [JobId::from(number)].into()
}

#[test]
fn a_full_switch_names_the_command_and_the_command_makes_room() {
    let mut controller = narrow();
    now(controller.install(&[planned(1, schemes::ATP), planned(2, schemes::ATP)])).unwrap();
    let before = network(&mut controller);
    let error = now(controller.install(&[planned(3, schemes::ATP)])).unwrap_err().to_string();
    assert_eq!(
        error,
        "switch v1: job digits needs 2 x 64 slots, 0 of 256 are free: remove one of the jobs 1, 2 that is done, with \
         `inart remove 1 TOPOLOGY`, or compile the program with more slots"
    );
    assert_eq!(network(&mut controller), before);

    let preview = now(controller.preview_removal(&only(1))).unwrap();
    assert_eq!(network(&mut controller), before);
    let report = now(controller.remove(&only(1))).unwrap();
    assert_eq!(report, preview);
    assert!(report.updates() > 0 && report.assignments.is_empty());
    let tables = network(&mut controller);
    assert_eq!(tables, report.desired);
    for (switch, held) in &tables {
        assert_eq!(held.jobs(), only(2), "{switch}");
        assert_eq!((&held.mac, &held.switch_ports), (&before[switch].mac, &before[switch].switch_ports));
        let of_two = |tables: &Network| {
            let steer = tables[switch].steer.clone().into_iter();
            steer.filter(|(key, _)| key.job == JobId::from(2)).collect::<Vec<_>>()
        };
        assert_eq!(of_two(&tables), of_two(&before), "{switch}");
        assert_eq!(held.groups.keys().copied().collect::<BTreeSet<_>>(), held.used_groups());
    }
    check_mac(&tables, controller.ports()).unwrap();
    now(controller.install(&[planned(3, schemes::ATP)])).unwrap();
    check_own_slots(&network(&mut controller)).unwrap();
}

/// Slots keep sums of a plan version after its entries were removed.
#[test]
fn the_next_push_of_a_removed_job_uses_a_new_plan_version() {
    let mut controller = narrow();
    now(controller.install(&[planned(1, schemes::ATP)])).unwrap();
    now(controller.install(&[planned(1, schemes::LBMM)])).unwrap();
    now(controller.remove(&only(1))).unwrap();
    assert!(matches!(now(controller.rollback(JobId::from(1))), Err(InstallError::NoEarlierPush { .. })));
    let report = now(controller.install(&[planned(1, schemes::LBMM)])).unwrap();
    assert_eq!(report.assignments[0].plan_version, PlanVersion::from(3));
}

#[test]
fn a_removal_that_fails_changes_nothing() {
    let plans = [planned(1, schemes::OPTIMIZED), planned(2, schemes::ATP)];
    let prepared = || {
        let mut controller = narrow();
        now(controller.install(&plans)).unwrap();
        controller
    };
    let mut clean = prepared();
    let (before, recorded) = (network(&mut clean), clean.records().clone());
    let report = now(clean.remove(&only(1))).unwrap();
    for (name, change) in &report.switches {
        assert!(change.updates.len() > 5);
        for k in 0..change.updates.len() {
            for kind in [Failpoint::Refuse, Failpoint::Broken, Failpoint::Gone] {
                let mut controller = prepared();
                let switch = controller.switches().get_mut(name).unwrap();
                switch.failpoint = kind(switch.updates + k);
                let error = now(controller.remove(&only(1))).unwrap_err();
                let gone = matches!(kind(0), Failpoint::Gone(_));
                assert_eq!(matches!(error, InstallError::NotUndone { .. }), gone, "{error}");
                assert_eq!(*controller.records(), recorded);
                if !gone {
                    assert_eq!(network(&mut controller), before, "{name} {k}");
                }
                controller.switches().get_mut(name).unwrap().failpoint = Failpoint::Never;
                now(controller.remove(&only(1))).unwrap();
                assert_eq!(network(&mut controller), report.desired, "{name} {k}");
            }
        }
    }
}

#[test]
fn jobs_are_found_by_number_and_by_name_with_records_and_without() {
    let two = support::FIG1.replace(
        "jobs:\n",
        "jobs:\n  - {name: letters, workers: [w1, w2], servers: [s1], gradient: 200 KB}\n",
    );
    let two = Topology::from_yaml(&two).unwrap();
    let plan = |(found, number)| job(number, &plan(&two, found, &Options::new(schemes::ATP)).unwrap());
    let jobs: Vec<_> = two.jobs().iter().zip(1..).map(plan).collect();
    let mut controller = support::controller(&two, Records::default());
    for job in jobs {
        now(controller.install(&[job])).unwrap();
    }
    let held = now(controller.held()).unwrap();
    let names =
        |held: &[HeldJob]| held.iter().map(|job| (job.to_string(), job.in_topology)).collect::<Vec<_>>();
    assert_eq!(names(&held), [("1 (letters)".to_owned(), true), ("2 (digits)".to_owned(), true)]);
    assert!(
        held.iter().all(|job| job.plan_versions == [PlanVersion::from(1)].into()
            && job.live == Some(PlanVersion::from(1)))
    );
    assert_eq!(held[1].slots, [("v1".to_owned(), 128), ("v2".to_owned(), 128)].into());
    assert_eq!(find_held(&held, "digits").unwrap().job, JobId::from(2));
    assert_eq!(find_held(&held, "2").unwrap().job, JobId::from(2));
    let unknown = find_held(&held, "vgg").unwrap_err();
    assert_eq!(unknown.to_string(), "no switch holds a job vgg; they hold 1 (letters), 2 (digits)");

    // The topology lost its first job, so the other one has another number; then the records are lost, too.
    let switches = controller.switches().clone();
    let records = controller.records().clone();
    let at =
        |records| Controller::new(fig1(), ValuesPerFrame::N64, LIMITS, switches.clone(), records).unwrap();
    let mut newer = at(records);
    assert_eq!(
        names(&now(newer.held()).unwrap()),
        [("1 (letters)".to_owned(), false), ("2 (digits)".to_owned(), false)]
    );
    now(newer.install(&[planned(1, schemes::LBMM)])).unwrap();
    let held = now(newer.held()).unwrap();
    assert_eq!(names(&held), [("1 (digits)".to_owned(), true), ("2 (digits)".to_owned(), false)]);
    assert!(held[1].has_left() && !held[0].has_left());
    let ambiguous = find_held(&held, "digits").unwrap_err();
    assert!(matches!(ambiguous, NotHeld::Ambiguous { .. }), "{ambiguous}");
    assert_eq!(ambiguous.to_string(), "several jobs are called digits: give the number, 1 or 2");
    let unknown_jobs = names(&now(at(Records::default()).held()).unwrap());
    assert_eq!(unknown_jobs, [("1 (digits)".to_owned(), true), ("2".to_owned(), false)]);
}

/// Switches without a program, or with another one, hold no job and stay unchanged.
#[test]
fn a_switch_without_our_program_is_left_alone() {
    let mut controller = narrow();
    now(controller.install(&[planned(1, schemes::ATP)])).unwrap();
    controller.switches().get_mut("v2").unwrap().running = Running::Other;
    let report = now(controller.remove(&only(1))).unwrap();
    assert_eq!(report.switches.keys().collect::<Vec<_>>(), ["v1"]);
    assert_eq!(controller.switches()["v2"].running, Running::Other);
    assert!(now(controller.held()).unwrap().is_empty());
}
