//! Loss, duplication, delay and reordering of frames; restarts of switches; crashes of hosts.

use std::time::Duration;

use inart_protocol_aggregation::Failure;
use inart_wire::{AbortReason, Rank};
use proptest::prelude::*;

use super::network::{Network, PEER_TIMEOUT, assignment, kind_fate};
use super::{gradients, run_round, run_rounds};

const ZERO: Duration = Duration::ZERO;

pub fn rank(rank: usize) -> Rank {
    Rank::try_from(rank).unwrap()
}

#[test]
fn each_frame_lost_duplicated_or_late_in_turn() {
    let job = assignment(3, &[0.5, 0.5], 2);
    let ms = Duration::from_millis;
    for len in [7, 300] {
        let mut kind = Network::new(job.clone(), 0b011, kind_fate());
        run_rounds(&mut kind, len);
        for victim in 0..kind.frames {
            for fate in [vec![], vec![ZERO, ZERO], vec![ZERO, ms(7)], vec![ms(1)], vec![ms(300)]] {
                let fate = Box::new(move |frame| if frame == victim { fate.clone() } else { vec![ZERO] });
                let mut network = Network::new(job.clone(), 0b011, fate);
                run_rounds(&mut network, len);
                for (worker, reference) in network.workers.iter().zip(&kind.workers) {
                    assert_eq!(worker.record(), reference.record(), "the same bits as without trouble");
                }
            }
        }
    }
}

#[derive(Clone, Debug)]
pub struct FaultRates {
    pub lost_percent: u32,
    pub duplicated_percent: u32,
    pub late_percent: u32,
    pub latest_micros: u64,
}

pub fn faults() -> impl Strategy<Value = FaultRates> {
    (0..30u32, 0..20u32, 0..50u32, 1..50_000u64).prop_map(|(lost, duplicated, late, latest_micros)| {
        FaultRates { lost_percent: lost, duplicated_percent: duplicated, late_percent: late, latest_micros }
    })
}

/// A fate that is a function of seed and frame number.
pub fn fate_in(faults: FaultRates, seed: u64) -> super::network::Fate {
    Box::new(move |frame| {
        let mut state = seed ^ (frame + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut roll = |sides: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % sides
        };
        roll(1);
        if roll(100) < faults.lost_percent.into() {
            return Vec::new();
        }
        let copies = 1 + u64::from(roll(100) < faults.duplicated_percent.into());
        let mut late = || match roll(100) < faults.late_percent.into() {
            true => Duration::from_micros(roll(faults.latest_micros)),
            false => ZERO,
        };
        (0..copies).map(|_| late()).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn faults_change_no_bit(
        faults in faults(),
        seed in any::<u64>(),
        workers in 1..7usize,
        aggregated in 0..64u64,
        window_log in 0..5u32,
        len in 1..700usize,
    ) {
        let job = assignment(workers, &[0.3, 0.7], 1 << window_log);
        let aggregated = aggregated & ((1 << workers) - 1);
        let mut kind = Network::new(job.clone(), aggregated, kind_fate());
        // With 30 % lost on each of four links, a chunk and its result pass in a quarter of the tries: twenty
        // tries within PEER_TIMEOUT all fail once in 300 times, and aborting then is correct.
        let peer_timeout = Duration::from_secs(250);
        let mut bad = Network::with_peer_timeout(job, aggregated, fate_in(faults, seed), peer_timeout);
        for round in 0..3 {
            let gradients = gradients(workers, round, len);
            let right = run_round(&mut kind, &gradients);
            prop_assert_eq!(run_round(&mut bad, &gradients), right);
        }
    }
}

#[test]
fn a_switch_that_forgets_costs_time_only() {
    let job = assignment(4, &[1.0], 4);
    for at in 1..200 {
        let mut network = Network::new(job.clone(), 0b1111, kind_fate());
        network.switch_forgets_after = Some(at);
        run_rounds(&mut network, 2000);
    }
}

#[test]
fn a_slot_that_never_completes_is_bypassed() {
    let job = assignment(3, &[1.0], 4);
    let mut network = Network::new(job, 0b0111, kind_fate());
    network.switch.expect_also(rank(9).bitmap_index());
    run_rounds(&mut network, 300);
    // Ten chunks of values, and one of their maxima.
    assert!(network.workers.iter().all(|worker| worker.counters().bypasses >= 3 * (1 + 10)));
    assert_eq!(network.servers[0].counters().partials, 0);
}

#[test]
fn all_hosts_learn_which_worker_crashed() {
    let job = assignment(4, &[0.5, 0.5], 4);
    let mut network = Network::new(job, 0b0110, kind_fate());
    run_round(&mut network, &gradients(4, 0, 500));
    network.dead_workers.push(2);
    let start = network.now;
    for result in network.all_reduce(&gradients(4, 1, 500)) {
        let failure = Failure::Aborted { culprit: rank(2), name: "w3".into(), reason: AbortReason::Silent };
        assert_eq!(result, Err(failure));
    }
    assert!(network.now.since(start) < 2 * PEER_TIMEOUT);
    // A later round is refused with the same reason.
    assert!(network.all_reduce(&gradients(4, 2, 500)).iter().all(Result::is_err));
}

#[test]
fn a_slow_worker_is_waited_for_as_long_as_it_is_heard_within_the_peer_timeout() {
    let job = assignment(3, &[1.0], 4);
    let mut network = Network::new(job, 0b0011, kind_fate());
    network.late_start = Some((1, PEER_TIMEOUT - Duration::from_secs(1)));
    run_rounds(&mut network, 500);
}

#[test]
fn all_workers_learn_which_server_crashed() {
    let job = assignment(3, &[0.5, 0.5], 4);
    let mut network = Network::new(job, 0b0011, kind_fate());
    run_round(&mut network, &gradients(3, 0, 500));
    network.dead_servers.push(1);
    for result in network.all_reduce(&gradients(3, 1, 500)) {
        match result {
            Err(Failure::ServerSilent { shard, server, .. }) => {
                assert_eq!((shard.get(), &*server), (1, "s2"))
            }
            Err(Failure::ServerLost { shard, server, .. }) => assert_eq!((shard.get(), &*server), (1, "s2")),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn all_hosts_learn_whose_gradient_is_not_finite() {
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let job = assignment(3, &[0.5, 0.5], 4);
        let mut network = Network::new(job, 0b0011, kind_fate());
        let mut gradients = gradients(3, 0, 500);
        gradients[1][77] = bad;
        let results = network.all_reduce(&gradients);
        assert!(matches!(&results[1], Err(Failure::NotFinite { index: 77, .. })), "{:?}", results[1]);
        for result in [&results[0], &results[2]] {
            let reason = AbortReason::NotFinite;
            assert_eq!(result, &Err(Failure::Aborted { culprit: rank(1), name: "w2".into(), reason }));
        }
        assert!(
            network.now.since(inart_protocol_aggregation::Instant::START) < Duration::from_secs(1),
            "at once, not by the peer timeout"
        );
    }
}

#[test]
fn all_hosts_learn_which_worker_was_stopped() {
    let job = assignment(3, &[0.5, 0.5], 4);
    let mut network = Network::new(job, 0b0011, kind_fate());
    network.stopped = Some(0);
    for result in network.all_reduce(&gradients(3, 0, 500)) {
        let reason = AbortReason::Stopped;
        assert_eq!(result, Err(Failure::Aborted { culprit: rank(0), name: "w1".into(), reason }));
    }
}

#[test]
fn a_failure_is_heard_of_even_when_frames_get_lost() {
    let faults =
        FaultRates { lost_percent: 30, duplicated_percent: 10, late_percent: 30, latest_micros: 20_000 };
    for seed in 0..20 {
        let job = assignment(3, &[0.5, 0.5], 4);
        let mut network = Network::new(job, 0b0011, fate_in(faults.clone(), seed));
        let mut gradients = gradients(3, 0, 500);
        gradients[1][77] = f32::NAN;
        assert!(network.all_reduce(&gradients).iter().all(Result::is_err));
    }
}

/// Any bytes, and any single changed byte of a valid frame: counted, never summed, never a panic.
#[test]
fn damaged_frames_are_counted_and_never_summed() {
    let job = assignment(3, &[0.5, 0.5], 2);
    let mut network = Network::new(job, 0b0011, kind_fate());
    // Bytes 0 to 14 and the header's first: a frame check sequence guards the values, not us.
    network.also_damaged = (0..15).collect();
    run_rounds(&mut network, 300);
    assert!(network.servers.iter().all(|server| server.counters().malformed > 0));
    assert!(network.workers.iter().all(|worker| worker.counters().malformed > 0));
}
