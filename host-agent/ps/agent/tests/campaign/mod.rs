//! The fault campaign of push and pull: random orders, networks and faults in virtual time. Every update and
//! every pulled model is compared bit for bit, and the model with one computed in another way;
//! `CAMPAIGN_TIMES=50` runs fifty times as many trials. docs/protocol/ps.md, "Push and pull".
// The number of trials is an environment variable.
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
fn no_update_is_lost_or_applied_twice_under_faults() {
    let mut seen = Seen::default();
    for seed in 1..=TRIALS * times() {
        seen.add(&world::run(&Trial::random(seed).with_odd()));
    }
    eprintln!("{seen:#?}");
    assert!(seen.scaled > 100, "few updates were scaled");
    // Every kind of event occurred.
    let overflows = [("an update that would overflow", seen.overflows), ("a worker stopped", seen.stopped)];
    for (what, count) in seen.list().into_iter().chain(seen.refusals()).chain(overflows) {
        assert!(count > 0, "{what} never occurred");
    }
}

#[test]
fn clients_in_groups_lose_no_update() {
    let mut seen = Seen::default();
    for seed in 1..=TRIALS * times() {
        seen.add(&world::run(&Trial::of_groups(seed).with_odd()));
    }
    eprintln!("{seen:#?}");
    for (what, count) in seen.list().into_iter().chain(seen.refusals()) {
        assert!(count > 0, "{what} never occurred");
    }
    assert!(seen.late > 0, "no push arrived after its round");
}

#[test]
fn a_seed_with_a_late_hello_of_the_previous_connection() {
    // The notice of the end arrived before the answer to the second hello, and the worker waited forever.
    world::run(&Trial::random(3993));
}

#[test]
fn a_seed_whose_worker_timed_out_while_it_pulled() {
    // The server did not notify the worker that the rest of the model would not arrive.
    world::run(&Trial::random(4793));
}

#[test]
fn a_seed_whose_client_restarted_within_its_round() {
    // The round took the model that the client had pushed before, and answered only clients that waited; a
    // client that requested again after a lost answer counted as waiting.
    world::run(&Trial::of_groups(301));
    world::run(&Trial::of_groups(2600));
}

#[test]
fn without_crashes_every_update_of_a_worker_without_timeout_is_applied() {
    for seed in 1..=100 * times() {
        let trial = Trial { kills: 0, restarts: 0, not_finite: 0.0, ..Trial::random(seed) };
        assert!(matches!(trial.rule, Rule::SyncModel(_)));
        let seen = world::run(&trial);
        assert_eq!(seen.arrived, seen.applied, "seed {seed}: {seen:?}");
        // A worker that timed out has computed at most one lost update.
        assert!(seen.computed - seen.arrived <= seen.gone, "seed {seed}: {seen:?}");
        assert!(seen.applied > 0);
    }
}
