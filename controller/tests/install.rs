//! Installation on switches that fail: the earlier plan always continues to work, and the next installation
//! ends like a clean one.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use std::collections::BTreeMap;

use inart_controller::{Cause, Controller, InstallError, JobPlan, Records};
use inart_planner_aggregation::{Plan, schemes};
use inart_tables::{Limits, MacAction, SlotRange, SteerAction};
use inart_targets::{Failpoint, Memory, Running, SwitchError, SwitchErrors};
use inart_wire::{JobId, PlanVersion, ValuesPerFrame};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use support::pushes::{arm, disarm, network, plan_versions, planned, walks};
use support::walker::check_own_slots;
use support::{LIMITS, controller, fig1, job, now, plans};

#[test]
fn pushing_twice_changes_nothing() {
    let mut controller = controller(&fig1(), Records::default());
    let atp = job(1, &planned(schemes::ATP));
    let first = now(controller.install(std::slice::from_ref(&atp))).unwrap();
    assert!(first.updates() > 0);
    assert!(
        first.switches.values().all(|change| change.running == Running::Nothing && change.unchanged == 0)
    );
    let before = network(&mut controller);
    let slower = Plan { solve_ms: 1e3, ..atp.plan.clone() };
    let second = now(controller.install(&[job(1, &slower)])).unwrap();
    assert_eq!((second.updates(), plan_versions(&second)), (0, vec![1]));
    assert_eq!(second.assignments, first.assignments);
    assert_eq!(network(&mut controller), before);
}

/// A job that keeps its plan version may run: its slots and groups stay in place, although another job
/// precedes it in the list.
#[test]
fn a_job_earlier_in_the_list_moves_no_entry_of_a_job_that_stays() {
    let mut controller = controller(&fig1(), Records::default());
    let stays = job(2, &planned(schemes::ATP));
    now(controller.install(std::slice::from_ref(&stays))).unwrap();
    let report = now(controller.install(&[job(1, &planned(schemes::ATP)), stays])).unwrap();
    assert_eq!(report.updates_of(2.into()), 0, "{:?}", report.switches);
    assert!(report.updates_of(1.into()) > 0);
}

#[test]
fn the_plan_version_before_stays_until_the_next_push() {
    let topology = fig1();
    let mut controller = controller(&topology, Records::default());
    let schemes = [schemes::ATP, schemes::LBMM, schemes::OPTIMIZED, schemes::ATP];
    let pushed = schemes.map(|scheme| job(1, &planned(scheme)));
    for (index, push) in pushed.iter().enumerate() {
        let plan_version = index as u16 + 1;
        let report = now(controller.install(std::slice::from_ref(push))).unwrap();
        assert_eq!(plan_versions(&report), [plan_version]);
        let tables = network(&mut controller);
        walks(&topology, &tables, push, plan_version).unwrap();
        if index > 0 {
            walks(&topology, &tables, &pushed[index - 1], plan_version - 1).unwrap();
        }
        let held = tables["v1"].plan_versions(JobId::from(1));
        assert!(held.iter().all(|held| held.get() + 1 >= plan_version), "{held:?}");
    }
}

#[test]
fn a_preview_is_what_the_install_then_does() {
    let mut controller = controller(&fig1(), Records::default());
    for scheme in [schemes::ATP, schemes::OPTIMIZED] {
        let push = [job(1, &planned(scheme))];
        let before = network(&mut controller);
        let preview = now(controller.preview(&push)).unwrap();
        assert_eq!(network(&mut controller), before);
        assert_eq!(now(controller.install(&push)).unwrap(), preview);
    }
}

#[test]
fn jobs_do_not_touch_each_other() {
    let topology = fig1();
    let mut controller = controller(&topology, Records::default());
    let (one, two) = (job(1, &planned(schemes::OPTIMIZED)), job(2, &planned(schemes::ATP)));
    now(controller.install(&[one.clone(), two.clone()])).unwrap();
    let report = now(controller.install(&[JobPlan { plan: planned(schemes::LBMM), ..one.clone() }])).unwrap();
    assert_eq!(plan_versions(&report), [2]);
    let tables = network(&mut controller);
    walks(&topology, &tables, &one, 1).unwrap();
    walks(&topology, &tables, &two, 1).unwrap();
    assert_eq!(now(controller.install(&[two])).unwrap().updates(), 0);
    let error = now(controller.install(&[one.clone(), one])).unwrap_err();
    assert!(matches!(error, InstallError::JobTwice { .. }), "{error}");
}

/// Fails every update in turn, in three ways, between two plans.
#[test]
fn a_failed_push_leaves_the_old_plan_working() {
    let topology = fig1();
    let (old, older, new) = (
        job(1, &planned(schemes::ATP)),
        job(1, &planned(schemes::LBMM)),
        job(1, &planned(schemes::OPTIMIZED)),
    );
    let prepared = || {
        let mut controller = controller(&topology, Records::default());
        now(controller.install(std::slice::from_ref(&older))).unwrap();
        now(controller.install(std::slice::from_ref(&old))).unwrap();
        controller
    };
    let mut clean = prepared();
    let report = now(clean.install(std::slice::from_ref(&new))).unwrap();
    let goal = network(&mut clean);
    for (name, change) in &report.switches {
        assert!(change.updates.len() > 5);
        for k in 0..change.updates.len() {
            for kind in [Failpoint::Refuse, Failpoint::Broken, Failpoint::Gone] {
                let mut controller = prepared();
                arm(
                    &mut controller,
                    |switch, done| if switch == name { kind(done + k) } else { Failpoint::Never },
                );
                let error = now(controller.install(std::slice::from_ref(&new))).unwrap_err();
                let text = error.to_string();
                assert!(text.starts_with(&format!("switch {name}: ")) && !text.contains('\n'), "{text}");
                match kind(0) {
                    Failpoint::Gone(_) => assert!(matches!(error, InstallError::NotUndone { .. }), "{error}"),
                    _ => assert!(matches!(error, InstallError::Undone { .. }), "{error}"),
                }
                disarm(&mut controller);
                let tables = network(&mut controller);
                walks(&topology, &tables, &old, 2)
                    .unwrap_or_else(|e| panic!("{name} {k} {:?}: {e}", kind(k)));

                let report = now(controller.install(std::slice::from_ref(&new))).unwrap();
                assert_eq!(plan_versions(&report), [3]);
                assert_eq!(network(&mut controller), goal, "{name} {k} {:?}", kind(k));
            }
        }
    }
}

/// After a failure the old plan may be installed again, or another one.
#[test]
fn after_a_failed_push_any_plan_can_be_pushed() {
    let topology = fig1();
    let [old, new, other] =
        [schemes::ATP, schemes::OPTIMIZED, schemes::LBMM].map(|scheme| job(1, &planned(scheme)));
    for next in [&old, &other] {
        let mut controller = controller(&topology, Records::default());
        now(controller.install(std::slice::from_ref(&old))).unwrap();
        arm(
            &mut controller,
            |name, done| if name == "v2" { Failpoint::Gone(done + 7) } else { Failpoint::Never },
        );
        now(controller.install(std::slice::from_ref(&new))).unwrap_err();
        disarm(&mut controller);
        let report = now(controller.install(std::slice::from_ref(next))).unwrap();
        let plan_version = plan_versions(&report)[0];
        assert_eq!(plan_version, if next == &old { 1 } else { 2 });
        let tables = network(&mut controller);
        walks(&topology, &tables, next, plan_version).unwrap();
        assert!(tables["v2"].plan_versions(JobId::from(1)).iter().all(|held| held.get() <= plan_version));
    }
}

#[test]
fn a_first_push_that_fails_leaves_nothing_and_then_succeeds() {
    let topology = fig1();
    let plan = job(1, &planned(schemes::OPTIMIZED));
    let mut clean = controller(&topology, Records::default());
    now(clean.install(std::slice::from_ref(&plan))).unwrap();
    for k in 0..20 {
        let mut controller = controller(&topology, Records::default());
        arm(&mut controller, |_, _| Failpoint::Refuse(k));
        now(controller.install(std::slice::from_ref(&plan))).unwrap_err();
        assert!(network(&mut controller).values().all(|tables| tables.is_empty()));
        disarm(&mut controller);
        now(controller.install(std::slice::from_ref(&plan))).unwrap();
        assert_eq!(network(&mut controller), network(&mut clean));
    }
}

/// Lost or damaged entries of a switch are rewritten, and no others.
#[test]
fn a_push_repairs_what_is_missing() {
    let topology = fig1();
    let mut controller = controller(&topology, Records::default());
    let plan = job(1, &planned(schemes::OPTIMIZED));
    now(controller.install(std::slice::from_ref(&plan))).unwrap();
    let whole = network(&mut controller);
    let v1 = controller.switches().get_mut("v1").unwrap();
    v1.tables.steer.pop_first();
    let (mac, _) = v1.tables.mac.pop_last().unwrap();
    v1.tables.mac.insert(mac, MacAction::Refuse);
    *controller.switches().get_mut("v2").unwrap() = Memory::new(LIMITS);
    let report = now(controller.install(std::slice::from_ref(&plan))).unwrap();
    assert_eq!((report.switches["v1"].updates.len(), plan_versions(&report)), (2, vec![1]));
    assert_eq!(network(&mut controller), whole);
}

/// An entry that was moved into another job's slots returns to slots of its own.
#[test]
fn a_push_repairs_what_overlaps() {
    let topology = fig1();
    let mut controller = controller(&topology, Records::default());
    let plans = [job(1, &planned(schemes::ATP)), job(2, &planned(schemes::ATP))];
    now(controller.install(&plans)).unwrap();
    let whole = network(&mut controller);
    for switch in controller.switches().values_mut() {
        let entries = switch.tables.steer.iter_mut().filter(|(key, _)| key.job == JobId::from(2));
        for (_, action) in entries {
            if let SteerAction::Add { slots, .. } = action {
                *slots = SlotRange { base: 32, ..*slots };
            }
        }
    }
    assert!(check_own_slots(&network(&mut controller)).is_err());
    let report = now(controller.install(&plans)).unwrap();
    assert_eq!(plan_versions(&report), [1, 1]);
    assert_eq!(network(&mut controller), whole);
}

/// Without records: the same plan is recognized; another one gets a plan version of its own and removes
/// nothing.
#[test]
fn without_records_nothing_is_removed_and_nothing_is_repeated() {
    let topology = fig1();
    let [old, new] = [schemes::ATP, schemes::OPTIMIZED].map(|scheme| job(1, &planned(scheme)));
    let mut first = controller(&topology, Records::default());
    now(first.install(std::slice::from_ref(&old))).unwrap();
    now(first.install(std::slice::from_ref(&new))).unwrap();
    let forgetful = |first: &mut Controller<Memory>| {
        let switches = first.switches().clone();
        Controller::new(topology.clone(), ValuesPerFrame::N64, LIMITS, switches, Records::default()).unwrap()
    };
    let report = now(forgetful(&mut first).install(std::slice::from_ref(&new))).unwrap();
    assert_eq!((report.updates(), plan_versions(&report)), (0, vec![2]));

    let mut second = forgetful(&mut first);
    let report = now(second.install(std::slice::from_ref(&old))).unwrap();
    assert_eq!(plan_versions(&report), [3]);
    let tables = network(&mut second);
    for (plan, plan_version) in [(&old, 1), (&new, 2), (&old, 3)] {
        walks(&topology, &tables, plan, plan_version).unwrap();
    }
    // From here on the controller has records, and cleans up.
    let report = now(second.install(std::slice::from_ref(&new))).unwrap();
    assert_eq!(plan_versions(&report), [4]);
    let held: Vec<_> =
        network(&mut second)["v1"].plan_versions(JobId::from(1)).into_iter().map(PlanVersion::get).collect();
    assert_eq!(held, [3, 4]);
}

/// Two operators with records of their own alternate: neither removes entries that the other's hosts use.
#[test]
fn old_records_do_not_remove_a_newer_plan() {
    let topology = fig1();
    let [a, b, c] = [schemes::ATP, schemes::OPTIMIZED, schemes::LBMM].map(|scheme| job(1, &planned(scheme)));
    let mut mine = controller(&topology, Records::default());
    now(mine.install(std::slice::from_ref(&a))).unwrap();
    let (switches, records) = (mine.switches().clone(), mine.records().clone());
    let mut theirs =
        Controller::new(topology.clone(), ValuesPerFrame::N64, LIMITS, switches, records).unwrap();
    for push in [&b, &c] {
        now(theirs.install(std::slice::from_ref(push))).unwrap();
    }
    *mine.switches() = theirs.switches().clone();
    let report = now(mine.install(std::slice::from_ref(&b))).unwrap();
    assert_eq!(plan_versions(&report), [4]);
    walks(&topology, &network(&mut mine), &c, 3).unwrap();
}

#[test]
fn another_program_is_replaced_only_when_allowed() {
    let topology = fig1();
    let mut controller = controller(&topology, Records::default());
    controller.switches().get_mut("v2").unwrap().running = Running::Other;
    let plan = [job(1, &planned(schemes::OPTIMIZED))];
    let error = now(controller.install(&plan)).unwrap_err();
    assert!(error.to_string().starts_with("switch v2 runs another program"), "{error}");
    controller.replace_program(true);
    now(controller.install(&plan)).unwrap();
    walks(&topology, &network(&mut controller), &plan[0], 1).unwrap();
}

#[test]
fn a_plan_that_does_not_hold_is_refused_before_anything_is_touched() {
    let topology = fig1();
    let mut controller = controller(&topology, Records::default());
    let good = planned(schemes::OPTIMIZED);
    let other = Plan { topology: "fig2".into(), ..good.clone() };
    let fast = Plan { rate_bps: good.rate_bps * 2.0, ..good.clone() };
    let unknown = Plan { job: "unknown".into(), ..good.clone() };
    for (plan, says) in [(other, "fig2"), (fast, "does not hold"), (unknown, "unknown")] {
        let error = now(controller.install(&[job(1, &plan)])).unwrap_err().to_string();
        assert!(error.contains(says) && !error.contains('\n'), "{error}");
    }
    for window_chunks in [0, 48, 1 << 20] {
        now(controller.install(&[JobPlan { window_chunks, ..job(1, &good) }])).unwrap_err();
    }
    assert!(controller.switches().values().all(|switch| switch.running == Running::Nothing));
}

#[test]
fn switches_must_be_those_of_the_topology() {
    let new = |names: &[&str]| {
        let switches = names.iter().map(|name| ((*name).to_owned(), Memory::new(LIMITS)));
        Controller::new(fig1(), ValuesPerFrame::N64, LIMITS, switches.collect(), Records::default())
            .err()
            .unwrap()
    };
    assert_eq!(
        new(&["v1"]).to_string(),
        "no address for switch v2 of topology fig1: give one for each switch"
    );
    assert_eq!(new(&["v1", "v2", "w1"]).to_string(), "w1 is not a switch of topology fig1; it has v1, v2");
}

#[test]
fn a_new_plan_version_can_be_requested() {
    let mut controller = controller(&fig1(), Records::default());
    let plan = job(1, &planned(schemes::OPTIMIZED));
    now(controller.install(std::slice::from_ref(&plan))).unwrap();
    let report = now(controller.install(&[JobPlan { new_plan_version: true, ..plan.clone() }])).unwrap();
    assert_eq!(plan_versions(&report), [2]);
    assert_eq!(now(controller.install(&[plan])).unwrap().updates(), 0);
}

#[test]
fn records_survive_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let open = || Records::open(&state, "fig1").unwrap();
    let [a, b] = [schemes::ATP, schemes::OPTIMIZED].map(|scheme| job(1, &planned(scheme)));
    let mut first = controller(&fig1(), open());
    now(first.install(std::slice::from_ref(&a))).unwrap();
    now(first.install(std::slice::from_ref(&b))).unwrap();
    assert_eq!(open(), *first.records());
    let switches = first.switches().clone();
    let mut second = Controller::new(fig1(), ValuesPerFrame::N64, LIMITS, switches, open()).unwrap();
    assert_eq!(plan_versions(&now(second.rollback(JobId::from(1))).unwrap()), [3]);
    std::fs::write(state.join("fig1.json"), "{").unwrap();
    let error = Records::open(&state, "fig1").unwrap_err().to_string();
    assert!(error.contains("fig1.json") && error.contains("move the file away"), "{error}");
}

#[derive(Debug, Clone)]
struct Step {
    job: u16,
    seed: u64,
    failpoint: Option<(usize, usize, usize)>,
    rollback: bool,
}

fn step() -> impl Strategy<Value = Step> {
    let failpoint = prop::option::weighted(0.4, (0usize..3, 0usize..8, 0usize..60));
    (1u16..4, 0u64..6, failpoint, prop::bool::weighted(0.15))
        .prop_map(|(job, seed, failpoint, rollback)| Step { job, seed, failpoint, rollback })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Any sequence of installations and rollbacks of three jobs, some of them failing: the live plan of
    /// every job always walks, no slot has two owners, and slots do not leak.
    #[test]
    fn live_plans_always_walk(seed: u64, steps in prop::collection::vec(step(), 1..14)) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let topology = plans::network(&mut rng);
        let limits = Limits { slots: 4096, ..LIMITS };
        let switches = support::switches(&topology, limits);
        let (values, records) = (ValuesPerFrame::N64, Records::default());
        let mut controller =
            Controller::new(topology.clone(), values, limits, switches, records).unwrap();
        let mut live: BTreeMap<u16, (JobPlan, u16)> = BTreeMap::new();
        for Step { job: number, seed, failpoint, rollback } in steps {
            let plan = plans::checked(&topology, &mut ChaCha8Rng::seed_from_u64(seed));
            let plan = JobPlan { window_chunks: 8, ..job(number, &plan) };
            if let Some((kind, switch, k)) = failpoint {
                let switches = controller.switches();
                let at = switch % switches.len();
                let switch = switches.values_mut().nth(at).unwrap();
                let kinds = [Failpoint::Refuse, Failpoint::Broken, Failpoint::Gone];
                switch.failpoint = kinds[kind](switch.updates + k);
            }
            let result = match rollback {
                true => now(controller.rollback(JobId::from(number))),
                false => now(controller.install(std::slice::from_ref(&plan))),
            };
            disarm(&mut controller);
            if let Ok(report) = result {
                let pushed = controller.records().jobs[&JobId::from(number)].live().unwrap();
                prop_assert_eq!(vec![pushed.plan_version.get()], plan_versions(&report));
                live.insert(number, (pushed.job_plan(JobId::from(number)), pushed.plan_version.get()));
            }
            let tables = network(&mut controller);
            for (plan, plan_version) in live.values() {
                prop_assert_eq!(walks(&topology, &tables, plan, *plan_version), Ok(()));
            }
        }
        // A clean installation of every job leaves at most two of its plan versions.
        for (plan, _) in live.values() {
            let job = plan.job;
            let plan = JobPlan { new_plan_version: true, ..plan.clone() };
            let report = now(controller.install(&[plan])).unwrap();
            prop_assert!(report.updates() > 0);
            for tables in network(&mut controller).values() {
                prop_assert!(tables.plan_versions(job).len() <= 2);
            }
        }
    }
}

/// Also next to unreachable switches, and if only the undo was refused.
#[test]
fn an_error_names_the_switch_that_obeys_another_controller() {
    let away = || ("v1".to_owned(), SwitchError::Unreachable("no server answers".to_owned()));
    let taken = || ("v2".to_owned(), SwitchError::Superseded("another controller is primary".to_owned()));
    let cause = |errors: Vec<(String, SwitchError)>| Cause::Switches(SwitchErrors(errors));
    let named = |error: &InstallError| error.superseded().map(|(switch, _)| switch.to_owned());
    for error in [
        InstallError::Switches(SwitchErrors(vec![away(), taken()])),
        InstallError::Undone { cause: cause(vec![away(), taken()]) },
        InstallError::NotUndone { cause: cause(vec![away()]), undo: SwitchErrors(vec![taken()]) },
        InstallError::Replaced { cause: cause(vec![taken()]), switches: Vec::new() },
    ] {
        assert_eq!(named(&error).as_deref(), Some("v2"), "{error}");
    }
    let lost = InstallError::Undone { cause: cause(vec![away()]) };
    assert_eq!((named(&lost), lost.unreachable().map(|lost| lost.len())), (None, Some(1)));
}
