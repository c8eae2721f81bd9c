//! Every order in which frames between two sides may arrive, be lost, be duplicated and be late, with a side
//! that restarts and one that receives nothing for too long: each packet is delivered at most once, in the
//! connection that it was sent in, acknowledged packets have arrived, and all packets arrive once no more
//! faults happen. Mistakes are noticed, each of which breaks a rule of docs/protocol/ps.md ("Push and pull by
//! frames").
#![allow(clippy::unwrap_used)]

mod mistakes;
mod world;

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use mistakes::Mistake;
use world::{Budget, NOTHING, State, Step};

/// More states than there are.
const MOST: usize = 3_000_000;

/// Steps that led to a state.
struct Trail {
    step: Step,
    before: Option<Rc<Trail>>,
}

fn with_steps(why: &str, trail: &Option<Rc<Trail>>) -> String {
    let steps = std::iter::successors(trail.as_ref(), |trail| trail.before.as_ref());
    let mut steps: Vec<String> = steps.map(|trail| format!("{:?}", trail.step)).collect();
    steps.reverse();
    format!("{why}\n  {}", steps.join("\n  "))
}

fn hashed(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Explores all states. Returns their number, or the problem and the steps to it.
fn explore(budget: Budget, mistake: Mistake) -> Result<usize, String> {
    let mut first = State::first(budget);
    first.settle(mistake)?;
    let mut seen = HashSet::from([hashed(&first.key())]);
    let mut open: Vec<(State, Option<Rc<Trail>>)> = vec![(first, None)];
    while let Some((state, trail)) = open.pop() {
        for (step, mut next) in state.successors(mistake).map_err(|why| with_steps(&why, &trail))? {
            let trail = Some(Rc::new(Trail { step, before: trail.clone() }));
            next.settle(mistake).map_err(|why| with_steps(&why, &trail))?;
            if seen.insert(hashed(&next.key())) {
                open.push((next, trail));
            }
        }
        assert!(seen.len() < MOST, "{budget:?}: more than {MOST} states");
    }
    Ok(seen.len())
}

#[test]
fn whatever_happens_to_frames_packets_arrive_once() {
    let budgets = [
        NOTHING,
        Budget { losses: 2, ..NOTHING },
        Budget { losses: 1, duplicated: 1, ..NOTHING },
        Budget { late: 1, ..NOTHING },
        Budget { restarts: 1, ..NOTHING },
        Budget { silences: 1, ..NOTHING },
    ];
    for budget in budgets {
        let states = explore(budget, Mistake::None).unwrap_or_else(|why| panic!("{budget:?}: {why}"));
        eprintln!("{budget:?}: {states} states");
    }
}

#[test]
fn mistakes_are_noticed() {
    let lost = Budget { losses: 1, ..NOTHING };
    let duplicated = Budget { duplicated: 1, ..NOTHING };
    let silent = Budget { silences: 1, ..NOTHING };
    let again = Budget { restarts: 1, ..NOTHING };
    let mistakes = [
        ("F1", Mistake::AnyPair, silent),
        ("F1", Mistake::SameIncarnation, again),
        ("F2", Mistake::OwnNumbers, Budget { silences: 1, late: 1, ..NOTHING }),
        ("F4", Mistake::OneMore, NOTHING),
        ("F4", Mistake::NothingTaken, NOTHING),
        ("F5", Mistake::Once, lost),
        ("F6", Mistake::Twice, duplicated),
    ];
    let mut unnoticed = Vec::new();
    for (rule, mistake, budget) in mistakes {
        match std::panic::catch_unwind(|| explore(budget, mistake)) {
            Ok(Ok(states)) => unnoticed.push(format!("{rule}: {mistake:?}, in {states} states")),
            Ok(Err(why)) => eprintln!("{rule} {mistake:?}: {}", why.lines().next().unwrap_or_default()),
            Err(_) => eprintln!("{rule} {mistake:?}: a link panicked"),
        }
    }
    assert!(unnoticed.is_empty(), "not noticed: {unnoticed:#?}");
}
