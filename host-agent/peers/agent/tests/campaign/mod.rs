//! The fault campaign of networks of peers: random networks, jobs and faults in virtual time. Every update is
//! compared word for word at every receiver, every average with one computed in another way;
//! `CAMPAIGN_TIMES=50` runs fifty times as many trials. docs/protocol/peers.md, "Rounds".
// The number of trials is an environment variable.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod audit;
mod fabric;
mod trial;
mod world;

use audit::Seen;
use trial::Trial;

/// Random trials.
const TRIALS: u64 = 400;

fn times() -> u64 {
    std::env::var("CAMPAIGN_TIMES").ok().and_then(|times| times.parse().ok()).unwrap_or(1)
}

#[test]
fn every_update_is_received_once_or_its_round_names_the_peers_without_it() {
    let mut seen = Seen::default();
    for seed in 1..=TRIALS * times() {
        seen.add(&world::run(Trial::random(seed).with_odd()));
    }
    eprintln!("{seen:#?}");
    // Every kind of event occurred.
    for (what, count) in seen.list().into_iter().chain(seen.odd()) {
        assert!(count > 0, "{what} never occurred");
    }
}

#[test]
fn without_faults_every_peer_averages_exactly_what_was_sent_to_it() {
    for seed in 1..=30 * times() {
        let seen = world::run(Trial { seed, ..Trial::without_faults(seed) });
        assert_eq!((seen.given_up, seen.gone, seen.rounds_with_previous_receivers), (0, 0, 0), "seed {seed}");
        // Algorithm 2 withdraws receivers; nothing else is abandoned.
        assert!(seen.received > 0 && seen.averaged > 0 && seen.abandoned <= seen.withdrawn);
    }
}

/// Peer 0 restarts when all others have finished or are dead, so that no peer knows the round.
#[test]
fn a_peer_that_no_coordinator_admits_ends_by_name() {
    assert_eq!(world::run(Trial::random(6543)).rejected, 1);
    for seed in 1..=30 {
        assert_eq!(world::run(Trial::without_faults(seed)).rejected, 0, "seed {seed}");
    }
}

/// A peer was still in its first round when another coordinator started, and another peer had not started.
#[test]
fn no_peer_is_too_far_ahead_of_one_in_its_first_round() {
    assert!(world::run(Trial::random(6645)).received > 0);
}

/// Paced updates of equal length end when the fullest port is done. Allowed beyond that time: frames of the
/// last chunk's length, bursts, and a queue of bursts at each port.
#[test]
fn a_round_takes_as_long_as_planned() {
    for seed in 1..=10 {
        let trial = Trial { chunks: 400, ..Trial::bsp_without_faults(seed) };
        let seen = world::run(trial);
        let (least, most) = (seen.over_plan_least, seen.over_plan_most);
        assert!(0.95 < least && most < 1.10, "seed {seed}: {least} to {most} of the planned time");
    }
}
