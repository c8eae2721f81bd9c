//! The fault campaign of push and pull: random orders, networks and faults in virtual time. Every update and
//! every pulled model is compared bit for bit, and the model with one computed in another way;
//! `CAMPAIGN_TIMES=50` runs fifty times as many. docs/protocol/ps.md, "Push and pull".
// It reads how many trials are wanted.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

pub mod audit;
pub mod sequencer;
pub mod trial;
mod world;

use audit::Seen;
use trial::{Rule, Trial};

/// Random trials.
const TRIALS: u64 = 300;

fn times() -> u64 {
    std::env::var("CAMPAIGN_TIMES").ok().and_then(|times| times.parse().ok()).unwrap_or(1)
}

#[test]
fn whatever_happens_no_update_is_lost_or_applied_twice() {
    let mut seen = Seen::default();
    for seed in 1..=TRIALS * times() {
        seen.add(&world::run(&Trial::random(seed).with_odd()));
    }
    eprintln!("{seen:#?}");
    assert!(seen.scaled > 100, "few updates were scaled");
    // What the campaign is for has happened.
    let overflows = [("an update that would overflow", seen.overflows), ("a worker stopped", seen.stopped)];
    for (what, count) in seen.list().into_iter().chain(seen.refusals()).chain(overflows) {
        assert!(count > 0, "{what} never happened");
    }
}

#[test]
fn clients_in_groups_lose_no_update_either() {
    let mut seen = Seen::default();
    for seed in 1..=TRIALS * times() {
        seen.add(&world::run(&Trial::of_groups(seed).with_odd()));
    }
    eprintln!("{seen:#?}");
    for (what, count) in seen.list().into_iter().chain(seen.refusals()) {
        assert!(count > 0, "{what} never happened");
    }
    assert!(seen.late > 0, "no push came after its round");
}

#[test]
fn a_seed_whose_worker_said_hello_late_on_the_connection_before() {
    // What it was told of the end came before the answer to its second hello, and it waited for ever.
    world::run(&Trial::random(3993));
}

#[test]
fn a_seed_whose_worker_was_given_up_while_it_pulled() {
    // Nobody told it that the rest of the model would not come.
    world::run(&Trial::random(4793));
}

#[test]
fn a_seed_whose_client_started_again_within_its_round() {
    // The round took the model that it had pushed before, and answered only those that waited; and who asked
    // again, since the answer was lost, was taken for one that waits.
    world::run(&Trial::of_groups(301));
    world::run(&Trial::of_groups(2600));
}

#[test]
fn without_deaths_every_update_of_a_worker_that_is_not_given_up_is_applied() {
    for seed in 1..=100 * times() {
        let trial = Trial { kills: 0, restarts: 0, not_finite: 0.0, ..Trial::random(seed) };
        assert!(matches!(trial.rule, Rule::SyncModel(_)));
        let seen = world::run(&trial);
        assert_eq!(seen.arrived, seen.applied, "seed {seed}: {seen:?}");
        // Who is given up has computed at most one update in vain.
        assert!(seen.computed - seen.arrived <= seen.gone, "seed {seed}: {seen:?}");
        assert!(seen.applied > 0);
    }
}
