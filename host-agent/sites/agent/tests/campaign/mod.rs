//! Random networks of sites in virtual time, with failing links, sites that are killed and restarted, and a
//! scheduler that fails: every sum of every site in every round is correct bit for bit, and all rounds end.
//! docs/protocol/sites.md.
#![allow(clippy::unwrap_used)]

mod network;
mod world;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use world::{Fault, Outcome, World};

/// Returns the factor on the number of seeds, from the environment.
fn times() -> u64 {
    std::env::var("CAMPAIGN_TIMES").ok().and_then(|times| times.parse().ok()).unwrap_or(1)
}

fn world(seed: u64) -> (World, ChaCha8Rng) {
    let mut draws = ChaCha8Rng::seed_from_u64(seed);
    let overlay = network::draw(&mut draws);
    let scheme = network::SCHEMES[draws.random_range(0..network::SCHEMES.len())];
    (World::new(overlay, scheme, seed), draws)
}

fn outcome(seed: u64, faults: bool) -> Outcome {
    let (mut world, mut draws) = world(seed);
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

/// Numbers of seeds without faults, with random faults, and with many killed sites; a third of the latter two
/// by default.
const CALM: u64 = 60;
const FAULTY: u64 = 250;
const KILLED: u64 = 300;

#[test]
#[ignore = "soak: about 25 s"]
fn all_seeds_end_with_right_sums() {
    without_faults(CALM);
    with_faults(FAULTY);
    neighbors_restart(KILLED);
    many_restart(KILLED);
}

#[test]
fn without_faults_every_sum_is_right_and_no_site_asks() {
    without_faults(CALM);
}

fn without_faults(seeds: u64) {
    let (mut followed, mut by_chunk) = (0, 0);
    for seed in 0..seeds * times() {
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
    with_faults(FAULTY / 3);
}

fn with_faults(seeds: u64) {
    let (mut asks, mut answered, mut joined, mut lost) = (0, 0, 0, 0);
    for seed in 1000..1000 + seeds * times() {
        let outcome = outcome(seed, true);
        asks += outcome.asks;
        answered += outcome.answered;
        joined += outcome.joined;
        lost += outcome.failed;
    }
    assert!(asks > 0 && answered > 0 && joined > 0 && lost > 0, "{asks} {answered} {joined} {lost}");
}

/// A site and all of its neighbors are killed at the same time: after their restart, no nearby site knows the
/// round. The site joins as soon as one of its neighbors has learned the round from farther away.
#[test]
fn a_site_whose_neighbors_restart_with_it_joins_sites_farther_away() {
    neighbors_restart(KILLED / 3);
}

fn neighbors_restart(seeds: u64) {
    let (mut worlds, mut joined) = (0, 0);
    for seed in 5000..5000 + seeds * times() {
        let (mut world, mut draws) = world(seed);
        let Some(killed) = world.neighborhood(draws.random_range(0..world.sites() as u16)) else { continue };
        let at = draws.random_range(0.5..8.0);
        for &site in &killed {
            world.plan_fault(at, draws.random_range(0.3..2.0), Fault::Site(site));
        }
        let calm_s = self::world(seed).0.run(6).ended_s;
        let outcome = world.run(6);
        // Dead for up to two seconds, up to four until the scheduler's offer arrives or times out, and some
        // requests of five seconds and more.
        let more_s = outcome.ended_s - calm_s;
        assert!(more_s < 60.0, "seed {seed}: {more_s} s more than without the fault");
        worlds += 1;
        joined += outcome.joined;
    }
    assert!(3 * worlds > seeds && joined > worlds, "{joined} sites joined in {worlds} networks");
}

/// Any sites, or all of them, are killed, some while others still load a state: they join a site that knows
/// the round, or restart from scratch if no site does.
#[test]
fn all_rounds_end_after_restarts_at_about_one_time() {
    many_restart(KILLED / 3);
}

fn many_restart(seeds: u64) {
    let (mut joined, mut all_killed) = (0, 0);
    for seed in 9000..9000 + seeds * times() {
        let (mut world, mut draws) = world(seed);
        let (sites, at) = (world.sites() as u16, draws.random_range(0.5..8.0));
        let share = draws.random_range(0.4..1.0);
        let killed: Vec<u16> = (0..sites).filter(|_| draws.random_bool(share)).collect();
        for &site in &killed {
            let (later, lasts) = (draws.random_range(0.0..3.0), draws.random_range(0.3..3.0));
            world.plan_fault(at + later, lasts, Fault::Site(site));
        }
        all_killed += u32::from(killed.len() == usize::from(sites));
        joined += world.run(6).joined;
    }
    assert!(joined > 0 && all_killed > 0, "{joined} joined, {all_killed} times all were killed");
}
