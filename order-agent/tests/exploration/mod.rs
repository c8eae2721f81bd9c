//! Every order in which packets of small trainings may arrive, fail and arrive all the same, with connections
//! that end, workers and a server that start again: each update is applied once, the model is the sum of what
//! was applied, and the training ends. Mistakes are noticed, each of which breaks a rule of docs/protocol.md
//! ("Push and pull").
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

use inart_order::{Applied, Blocking, Policy};
use inart_order_agent::Precision;
use mistakes::Mistake;
use steps::Step;
use world::{Budget, NOTHING, State, World};

use crate::campaign::trial::{Groups, Rule};

/// More states than there are.
const MOST: usize = 4_000_000;

/// How a state came about.
struct Trail {
    step: Step,
    before: Option<Rc<Trail>>,
}

fn told(why: &str, trail: &Option<Rc<Trail>>) -> String {
    let steps = std::iter::successors(trail.as_ref(), |trail| trail.before.as_ref());
    let mut steps: Vec<String> = steps.map(|trail| format!("{:?}", trail.step)).collect();
    steps.reverse();
    format!("{why}\n  {}", steps.join("\n  "))
}

/// Explores all; how many states there are, or what went wrong, and after what.
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
            next.settle(world).map_err(|why| told(&why, &trail))?;
            if seen.insert(next.key()) {
                open.push((next, trail));
            }
        }
        if is_end {
            state.is_right_at_the_end(world).map_err(|why| told(&why, &trail))?;
        }
        assert!(seen.len() < MOST, "{world:?}: more than {MOST} states");
    }
    Ok(seen.len())
}

/// One worker, two iterations, two chunks.
fn alone(budget: Budget) -> World {
    World {
        workers: 1,
        rule: Rule::Policy(Policy::asp()),
        iterations: 2,
        values: 2,
        window: 2,
        precision: Precision::Single,
        is_patient: false,
        budget,
        mistake: Mistake::None,
    }
}

/// Two workers, a chunk each.
fn two(policy: Policy, budget: Budget) -> World {
    World { workers: 2, rule: Rule::Policy(policy), iterations: 1, values: 1, ..alone(budget) }
}

fn all_is_right(world: &World) {
    let states = explore(world).unwrap_or_else(|why| panic!("{world:?}: {why}"));
    eprintln!("{:?} {:?}: {states} states", world.rule, world.budget);
}

#[test]
fn one_worker() {
    let budgets = [
        NOTHING,
        Budget { failures: 2, ..NOTHING },
        Budget { cuts: 1, ..NOTHING },
        Budget { failures: 1, cuts: 1, ..NOTHING },
        Budget { server: 1, ..NOTHING },
        Budget { worker: 1, ..NOTHING },
    ];
    budgets.into_iter().for_each(|budget| all_is_right(&alone(budget)));
}

/// What may happen to two workers.
const FAULTS: [Budget; 6] = [
    Budget { failures: 1, ..NOTHING },
    Budget { cuts: 1, ..NOTHING },
    Budget { server: 1, ..NOTHING },
    Budget { worker: 1, ..NOTHING },
    Budget { gone: 1, long: 1, ..NOTHING },
    Budget { not_finite: 1, ..NOTHING },
];

fn two_workers(rule: Rule) {
    two_workers_with(rule, &FAULTS);
}

fn two_workers_with(rule: Rule, faults: &[Budget]) {
    let world = |iterations, budget| World { rule, iterations, ..two(Policy::asp(), budget) };
    all_is_right(&world(2, NOTHING));
    faults.iter().for_each(|budget| all_is_right(&world(1, *budget)));
}

#[test]
fn two_workers_that_wait_for_all() {
    two_workers(Rule::Policy(Policy::bsp()));
}

#[test]
fn two_workers_by_themselves() {
    two_workers(Rule::Policy(Policy::asp()));
}

#[test]
fn two_workers_that_are_not_far_apart() {
    two_workers(Rule::Policy(Policy::ssp(0, Blocking::AfterPush).unwrap()));
    two_workers(Rule::Policy(Policy::ssp(1, Blocking::BeforeCommit).unwrap()));
}

/// With the other faults, of half of two workers, all is as with two by themselves, state for state.
#[test]
fn two_workers_of_whom_half_is_waited_for() {
    let others = FAULTS.into_iter().filter(|budget| budget.cuts + budget.server + budget.worker == 0);
    two_workers_with(Rule::Policy(Policy::safa(0.5, 1).unwrap()), &others.collect::<Vec<_>>());
}

#[test]
fn two_workers_in_turn() {
    two_workers(Rule::Policy(Policy::r2sp(1.0, Applied::InTurn).unwrap()));
}

#[test]
fn two_clients_of_a_group() {
    two_workers(Rule::Groups(Groups { groups: 1, fraction: 1.0, relaxation: 0.0 }));
}

#[test]
fn two_clients_of_whom_one_is_waited_for() {
    two_workers(Rule::Groups(Groups { groups: 1, fraction: 0.5, relaxation: 0.0 }));
}

#[test]
fn two_groups_of_a_client() {
    two_workers(Rule::Groups(Groups { groups: 2, fraction: 1.0, relaxation: 0.0 }));
}

/// A rule, a mistake that breaks it, and a training in which that is noticed.
fn mistakes() -> Vec<(&'static str, Mistake, World)> {
    let failure = Budget { failures: 1, ..NOTHING };
    let cut = Budget { cuts: 1, ..NOTHING };
    let server = Budget { server: 1, ..NOTHING };
    let worker = Budget { worker: 1, ..NOTHING };
    let long = Budget { cuts: 1, long: 1, ..NOTHING };
    let gone = Budget { gone: 1, long: 1, ..NOTHING };
    let not_finite = Budget { not_finite: 1, ..NOTHING };
    let bsp = |budget| two(Policy::bsp(), budget);
    let asp = |budget| two(Policy::asp(), budget);
    let clients = |groups, fraction, budget| {
        let rule = Rule::Groups(Groups { groups, fraction, relaxation: 0.0 });
        World { rule, ..two(Policy::asp(), budget) }
    };
    let short = World { iterations: 1, values: 1, ..alone(Budget { cuts: 2, ..NOTHING }) };
    let half = World { precision: Precision::Half, ..alone(NOTHING) };
    vec![
        ("U1", Mistake::ServersLife, alone(server)),
        ("U1", Mistake::WorkersLife, alone(worker)),
        ("U1", Mistake::NotUnknown, alone(worker)),
        ("U2", Mistake::NumbersAgain, alone(long)),
        ("U2", Mistake::AnyPermission, alone(failure)),
        ("U3", Mistake::NewestModel, World { values: 2, window: 1, ..asp(NOTHING) }),
        ("U4", Mistake::LostIsTaken, alone(failure)),
        ("U4", Mistake::AllAtOnce, alone(cut)),
        ("U5", Mistake::NoDown, alone(cut)),
        ("U5", Mistake::NamesNothing, alone(cut)),
        ("U5", Mistake::NothingMissing, alone(cut)),
        ("U5a", Mistake::EarlierHellos, short.clone()),
        ("U5a", Mistake::EarlierAnswers, short),
        ("U6", Mistake::AnyValues, asp(not_finite)),
        ("U6", Mistake::RefusedIsNothing, asp(not_finite)),
        ("U7", Mistake::NobodyLeaves, bsp(gone)),
        ("U7", Mistake::NotNotPermitted, World { is_patient: true, ..alone(long) }),
        ("U8", Mistake::Version, alone(server)),
        ("U8", Mistake::Done, alone(server)),
        ("U8", Mistake::Ahead, asp(server)),
        ("U8", Mistake::Left, asp(server)),
        ("U9", Mistake::OneIsEnough, asp(NOTHING)),
        ("U9", Mistake::NotUnderWay, World { iterations: 1, ..asp(NOTHING) }),
        ("U9", Mistake::OverOnce, alone(cut)),
        ("U10", Mistake::LateCounts, World { iterations: 2, ..clients(1, 0.5, NOTHING) }),
        ("U11", Mistake::BeyondHalf, half.clone()),
        ("U11", Mistake::CutOff, half),
    ]
}

/// Notices each mistake, or fails with those that it does not.
fn all_are_noticed(mistakes: Vec<(&str, Mistake, World)>) {
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
    let mut right = HashSet::new();
    for (_, mistake, world) in mistakes() {
        if right.insert(format!("{world:?}")) {
            explore(&world).unwrap_or_else(|why| panic!("{mistake:?}: without it: {why}"));
        }
    }
    all_are_noticed(mistakes());
}

/// Of three, one starts again in a round that goes on.
fn three_clients() -> World {
    let rule = Rule::Groups(Groups { groups: 1, fraction: 1.0, relaxation: 0.0 });
    World { workers: 3, rule, ..two(Policy::asp(), Budget { worker: 1, ..NOTHING }) }
}

#[test]
fn three_clients_of_whom_one_starts_again() {
    all_is_right(&three_clients());
}

#[test]
fn an_update_that_is_taken_again_is_noticed() {
    all_are_noticed(vec![("U10a", Mistake::PushedAgain, three_clients())]);
}
