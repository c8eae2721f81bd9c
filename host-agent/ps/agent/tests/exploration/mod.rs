//! Every order in which packets of small trainings may arrive, fail, or fail and arrive nevertheless, with
//! broken connections and restarts of workers and a server: each update is applied once, the model is the sum
//! of the applied updates, and the training ends. Deliberate mistakes, each of which breaks a rule of
//! docs/protocol/ps.md ("Push and pull"), are detected.
#![allow(clippy::unwrap_used)]

mod key;
mod mistakes;
mod order;
mod steps;
mod truth;
mod wire;
mod world;

use std::collections::HashSet;
use std::rc::Rc;

use inart_protocol_ps::{Applied, Blocking, SyncModel};
use inart_ps_agent::Precision;
use mistakes::Mistake;
use steps::Step;
use world::{Budget, NOTHING, State, World};

use crate::campaign::trial::{Groups, Rule};

/// More states than exist.
const MOST: usize = 4_000_000;

/// Steps that led to a state.
struct Trail {
    step: Step,
    before: Option<Rc<Trail>>,
}

fn with_trail(why: &str, trail: &Option<Rc<Trail>>) -> String {
    let steps = std::iter::successors(trail.as_ref(), |trail| trail.before.as_ref());
    let mut steps: Vec<String> = steps.map(|trail| format!("{:?}", trail.step)).collect();
    steps.reverse();
    format!("{why}\n  {}", steps.join("\n  "))
}

/// Explores all states. Returns their number, or the failure and its steps.
fn explore(world: &World) -> Result<usize, String> {
    let mut first = world.first();
    first.settle(world)?;
    let mut seen = HashSet::from([first.key()]);
    let mut open: Vec<(State, Option<Rc<Trail>>)> = vec![(first, None)];
    while let Some((state, trail)) = open.pop() {
        let mut is_end = state.is_quiet();
        for (step, mut next) in state.successors(world) {
            is_end &= !matches!(step, Step::ItIs(_));
            let trail = Some(Rc::new(Trail { step, before: trail.clone() }));
            next.settle(world).map_err(|why| with_trail(&why, &trail))?;
            if seen.insert(next.key()) {
                open.push((next, trail));
            }
        }
        if is_end {
            state.check_end(world).map_err(|why| with_trail(&why, &trail))?;
        }
        assert!(seen.len() < MOST, "{world:?}: more than {MOST} states");
    }
    Ok(seen.len())
}

/// Returns a training of one worker, two iterations, two chunks.
fn alone(budget: Budget) -> World {
    World {
        workers: 1,
        rule: Rule::SyncModel(SyncModel::asp()),
        iterations: 2,
        values: 2,
        window: 2,
        precision: Precision::Single,
        is_patient: false,
        budget,
        mistake: Mistake::None,
    }
}

/// Returns a training of two workers with a chunk each.
fn two(sync_model: SyncModel, budget: Budget) -> World {
    World { workers: 2, rule: Rule::SyncModel(sync_model), iterations: 1, values: 1, ..alone(budget) }
}

fn check_training(world: &World) {
    let states = explore(world).unwrap_or_else(|why| panic!("{world:?}: {why}"));
    eprintln!("{:?} {:?}: {states} states", world.rule, world.budget);
}

const FAILURE: Budget = Budget { failures: 1, ..NOTHING };
const CUT: Budget = Budget { cuts: 1, ..NOTHING };
const SERVER: Budget = Budget { server: 1, ..NOTHING };
const WORKER: Budget = Budget { worker: 1, ..NOTHING };
const GONE: Budget = Budget { gone: 1, long: 1, ..NOTHING };
const NOT_FINITE: Budget = Budget { not_finite: 1, ..NOTHING };

#[test]
fn one_worker() {
    let budgets = [NOTHING, FAILURE, CUT, SERVER, WORKER];
    budgets.into_iter().for_each(|budget| check_training(&alone(budget)));
}

#[test]
#[ignore = "soak: about 15 s"]
fn one_worker_with_two_faults() {
    for budget in [Budget { failures: 2, ..NOTHING }, Budget { failures: 1, cuts: 1, ..NOTHING }] {
        check_training(&alone(budget));
    }
}

/// Faults for two workers.
const FAULTS: [Budget; 6] = [FAILURE, CUT, SERVER, WORKER, GONE, NOT_FINITE];

fn two_workers_with(rule: Rule, faults: &[Budget]) {
    let world = |iterations, budget| World { rule, iterations, ..two(SyncModel::asp(), budget) };
    check_training(&world(2, NOTHING));
    faults.iter().for_each(|budget| check_training(&world(1, *budget)));
}

fn r2sp() -> Rule {
    Rule::SyncModel(SyncModel::r2sp(1.0, Applied::InTurn).unwrap())
}

fn ssp(bound: u64, blocking: Blocking) -> Rule {
    Rule::SyncModel(SyncModel::ssp(bound, blocking).unwrap())
}

fn groups(groups: usize, fraction: f64) -> Rule {
    Rule::Groups(Groups { groups, fraction, relaxation: 0.0 })
}

// By default each rule, and each fault under a rule that it concerns; below, all faults under each rule.

#[test]
fn two_workers_that_wait_for_all() {
    two_workers_with(Rule::SyncModel(SyncModel::bsp()), &[SERVER, GONE]);
}

#[test]
fn two_workers_by_themselves() {
    two_workers_with(Rule::SyncModel(SyncModel::asp()), &[FAILURE]);
}

#[test]
fn two_workers_that_are_not_far_apart() {
    two_workers_with(ssp(0, Blocking::AfterPush), &[NOT_FINITE]);
    two_workers_with(ssp(1, Blocking::BeforeCommit), &[]);
}

#[test]
fn half_of_two_workers() {
    two_workers_with(Rule::SyncModel(SyncModel::safa(0.5, 1).unwrap()), &[NOT_FINITE]);
}

#[test]
fn two_workers_in_turn() {
    two_workers_with(r2sp(), &[CUT]);
}

#[test]
fn two_clients_of_a_group() {
    two_workers_with(groups(1, 1.0), &[WORKER]);
}

#[test]
fn one_of_two_clients_is_awaited() {
    two_workers_with(groups(1, 0.5), &[FAILURE]);
}

#[test]
fn two_groups_of_a_client() {
    two_workers_with(groups(2, 1.0), &[NOT_FINITE]);
}

#[test]
#[ignore = "soak: about 20 s"]
fn two_workers_that_wait_for_all_with_all_faults() {
    two_workers_with(Rule::SyncModel(SyncModel::bsp()), &FAULTS);
}

#[test]
#[ignore = "soak: about 20 s"]
fn two_workers_by_themselves_with_all_faults() {
    two_workers_with(Rule::SyncModel(SyncModel::asp()), &FAULTS);
}

#[test]
#[ignore = "soak: about 40 s"]
fn two_workers_that_are_not_far_apart_with_all_faults() {
    two_workers_with(ssp(0, Blocking::AfterPush), &FAULTS);
    two_workers_with(ssp(1, Blocking::BeforeCommit), &FAULTS);
}

/// With the other faults, the states of half of two workers equal those of two independent ones.
#[test]
#[ignore = "soak: about 5 s"]
fn half_of_two_workers_with_all_faults() {
    let others = FAULTS.into_iter().filter(|budget| budget.cuts + budget.server + budget.worker == 0);
    two_workers_with(Rule::SyncModel(SyncModel::safa(0.5, 1).unwrap()), &others.collect::<Vec<_>>());
}

#[test]
#[ignore = "soak: about 20 s"]
fn two_workers_in_turn_with_all_faults() {
    two_workers_with(r2sp(), &FAULTS);
}

#[test]
#[ignore = "soak: about 60 s"]
fn two_clients_with_all_faults() {
    for rule in [groups(1, 1.0), groups(1, 0.5), groups(2, 1.0)] {
        two_workers_with(rule, &FAULTS);
    }
}

/// Returns rules, mistakes that break them, and trainings that detect them.
fn mistakes() -> Vec<(&'static str, Mistake, World)> {
    let long = Budget { cuts: 1, long: 1, ..NOTHING };
    let bsp = |budget| two(SyncModel::bsp(), budget);
    let asp = |budget| two(SyncModel::asp(), budget);
    let clients = |number, fraction, budget| World { rule: groups(number, fraction), ..asp(budget) };
    let short = World { iterations: 1, values: 1, ..alone(Budget { cuts: 2, ..NOTHING }) };
    let half = World { precision: Precision::Half, ..alone(NOTHING) };
    vec![
        ("U1", Mistake::ServersIncarnation, alone(SERVER)),
        ("U1", Mistake::WorkersIncarnation, alone(WORKER)),
        ("U1", Mistake::NotUnknown, alone(WORKER)),
        ("U2", Mistake::NumbersAgain, alone(long)),
        ("U2", Mistake::AnyPermission, alone(FAILURE)),
        ("U3", Mistake::NewestModel, World { values: 2, window: 1, ..asp(NOTHING) }),
        ("U4", Mistake::LostIsTaken, alone(FAILURE)),
        ("U4", Mistake::AllAtOnce, alone(CUT)),
        ("U5", Mistake::NoDown, alone(CUT)),
        ("U5", Mistake::NamesNothing, alone(CUT)),
        ("U5", Mistake::NothingMissing, alone(CUT)),
        ("U5a", Mistake::EarlierHellos, short.clone()),
        ("U5a", Mistake::EarlierAnswers, short),
        ("U6", Mistake::AnyValues, asp(NOT_FINITE)),
        ("U6", Mistake::RefusedIsNothing, asp(NOT_FINITE)),
        ("U7", Mistake::NeverLeaves, bsp(GONE)),
        ("U7", Mistake::NotNotPermitted, World { is_patient: true, ..alone(long) }),
        ("U8", Mistake::Version, alone(SERVER)),
        ("U8", Mistake::Done, alone(SERVER)),
        ("U8", Mistake::Ahead, asp(SERVER)),
        ("U8", Mistake::Left, asp(SERVER)),
        ("U9", Mistake::OneIsEnough, asp(NOTHING)),
        ("U9", Mistake::NotUnderWay, World { iterations: 1, ..asp(NOTHING) }),
        ("U9", Mistake::OverOnce, alone(CUT)),
        ("U10", Mistake::LateCounts, World { iterations: 2, ..clients(1, 0.5, NOTHING) }),
        ("U11", Mistake::BeyondHalf, half.clone()),
        ("U11", Mistake::CutOff, half),
    ]
}

/// Detects each mistake, or fails with the undetected ones.
fn assert_detected(mistakes: Vec<(&str, Mistake, World)>) {
    let mut unnoticed = Vec::new();
    for (rule, mistake, world) in mistakes {
        let found = std::panic::catch_unwind(|| explore(&World { mistake, ..world }));
        match found {
            Ok(Ok(states)) => unnoticed.push(format!("{rule}: {mistake:?}, in {states} states")),
            Ok(Err(why)) => eprintln!("{rule} {mistake:?}: {}", why.lines().next().unwrap_or_default()),
            Err(_) => eprintln!("{rule} {mistake:?}: a machine panicked"),
        }
    }
    assert!(unnoticed.is_empty(), "not noticed: {unnoticed:#?}");
}

#[test]
fn mistakes_are_noticed() {
    assert_detected(mistakes());
}

/// Mistakes in worlds of some hundred thousand states.
const IN_LARGE_WORLDS: [Mistake; 3] = [Mistake::NotNotPermitted, Mistake::Ahead, Mistake::Left];

/// Explores the worlds of the mistakes without the mistakes.
fn check_without(is_chosen: impl Fn(Mistake) -> bool) {
    let mut right = HashSet::new();
    for (_, mistake, world) in mistakes().into_iter().filter(|(_, mistake, _)| is_chosen(*mistake)) {
        if right.insert(format!("{world:?}")) {
            explore(&world).unwrap_or_else(|why| panic!("{mistake:?}: without it: {why}"));
        }
    }
}

#[test]
fn without_the_mistakes_all_checks_pass() {
    check_without(|mistake| !IN_LARGE_WORLDS.contains(&mistake));
}

#[test]
#[ignore = "soak: about 35 s"]
fn without_the_mistakes_in_large_worlds_all_checks_pass() {
    check_without(|mistake| IN_LARGE_WORLDS.contains(&mistake));
}

/// Returns three clients, one of which restarts in an open round.
fn three_clients() -> World {
    World { workers: 3, rule: groups(1, 1.0), ..two(SyncModel::asp(), WORKER) }
}

#[test]
#[ignore = "soak: about 45 s"]
fn three_clients_one_of_which_restarts() {
    check_training(&three_clients());
}

#[test]
fn an_update_that_is_accepted_twice_is_detected() {
    assert_detected(vec![("U10a", Mistake::PushedAgain, three_clients())]);
}
