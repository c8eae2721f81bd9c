//! The fault campaign by frames: a server and its participants in virtual time. Packets travel in frames that
//! are lost, duplicated, reordered and late, over links with silent periods, between processes that crash and
//! restart. Every update and every pulled model is compared bit for bit; `CAMPAIGN_TIMES=50` runs fifty times
//! as many trials. docs/protocol/ps.md, "Push and pull by frames".
// The number of trials is an environment variable.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod network;
mod world;

use network::Faults;
use world::Seen;

use crate::campaign::trial::Trial;

const TRIALS: u64 = 200;

fn times() -> u64 {
    std::env::var("CAMPAIGN_TIMES").ok().and_then(|times| times.parse().ok()).unwrap_or(1)
}

fn run_all(trial: fn(u64) -> Trial) -> Seen {
    let mut all = Seen::default();
    for seed in 1..=TRIALS * times() {
        all.add(&world::run(&trial(seed), &Faults::random(seed)));
    }
    eprintln!("{all:#?}");
    for (what, count) in all.list() {
        assert!(count > 0, "{what} never occurred");
    }
    all
}

#[test]
fn frame_faults_lose_no_update_and_apply_none_twice() {
    run_all(Trial::random);
}

#[test]
fn frame_faults_lose_no_update_of_clients_in_groups() {
    run_all(Trial::of_groups);
}

#[test]
fn without_faults_nothing_is_sent_twice() {
    for seed in 1..=50 * times() {
        let trial = Trial { kills: 0, restarts: 0, cuts: 0, ..Trial::random(seed) };
        let seen = world::run(&trial, &Faults::default());
        assert_eq!((seen.parts_again, seen.parts_repeated, seen.downs), (0, 0, 0), "seed {seed}: {seen:?}");
        assert!(seen.applied > 0);
    }
}
