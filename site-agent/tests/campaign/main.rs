//! Random networks of sites in virtual time, with links that die, sites that are killed and start again, and
//! a scheduler that is gone: every sum of every site in every round is what it has to be, bit for bit, and
//! all rounds end. docs/protocol.md, "Between sites".
#![allow(clippy::unwrap_used)]

mod network;
mod reference;
mod world;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use world::{Fault, Outcome, World};

/// How many times more seeds than usual, from the environment.
fn times() -> u64 {
    std::env::var("CAMPAIGN_TIMES").ok().and_then(|times| times.parse().ok()).unwrap_or(1)
}

fn outcome(seed: u64, faults: bool) -> Outcome {
    let mut draws = ChaCha8Rng::seed_from_u64(seed);
    let overlay = network::draw(&mut draws);
    let scheme = network::SCHEMES[draws.random_range(0..network::SCHEMES.len())];
    let mut world = World::new(overlay, scheme, seed);
    if faults {
        for _ in 0..draws.random_range(1..4) {
            let at = draws.random_range(0.0..20.0);
            let lasts = draws.random_range(0.3..12.0);
            let sites = world.sites() as u16;
            let fault = match draws.random_range(0..3) {
                0 => Fault::Link(draws.random_range(0..world.links())),
                1 => Fault::Site(draws.random_range(0..sites)),
                _ => Fault::Scheduler,
            };
            world.plan_fault(at, lasts, fault);
        }
    }
    world.run(6)
}

#[test]
fn without_faults_every_sum_is_right_and_nobody_asks() {
    let (mut followed, mut by_chunk) = (0, 0);
    for seed in 0..60 * times() {
        let outcome = outcome(seed, false);
        assert_eq!((outcome.asks, outcome.malformed), (0, 0), "seed {seed}");
        followed = followed.max(outcome.version);
        by_chunk += outcome.by_chunk;
    }
    assert!(followed > 0, "an offer was followed in some round");
    assert!(by_chunk > 0, "gradients were given chunk by chunk");
}

#[test]
fn with_faults_every_sum_is_right_and_all_rounds_end() {
    let (mut asks, mut answered, mut joined, mut lost) = (0, 0, 0, 0);
    for seed in 1000..1000 + 250 * times() {
        let outcome = outcome(seed, true);
        asks += outcome.asks;
        answered += outcome.answered;
        joined += outcome.joined;
        lost += outcome.failed;
    }
    assert!(asks > 0 && answered > 0 && joined > 0 && lost > 0, "{asks} {answered} {joined} {lost}");
}
