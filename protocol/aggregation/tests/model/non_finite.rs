//! A NaN or an infinity that passes: it affects its block at every worker, or only its value if sums are
//! exact.

use inart_protocol_aggregation::{Assignment, NonFinite};
use proptest::prelude::*;

use super::goodput::lossy;
use super::network::{Fate, Network, assignment, kind_fate};
use super::trouble::{fate_in, faults};
use super::{bits, run_round};

const WORKERS: usize = 3;
/// Blocks of 256 values: two of the first shard, one and a bit of the second.
const LEN: usize = 800;
const SHARES: [f64; 2] = [0.5, 0.5];
/// Non-finite values: worker and index.
const SPOILT: [(usize, usize); 2] = [(0, 37), (2, 780)];
/// Length of tensors whose sums are exact.
const EXACT_LEN: usize = 30;
const EXACT_SPOILT: [(usize, usize); 2] = [(0, 3), (2, 29)];

fn gradients(sizes: f32, len: usize) -> Vec<Vec<f32>> {
    let value = |rank: usize, index: usize| sizes * ((rank * 31 + index * 7) % 19) as f32 - 3.0 * sizes;
    (0..WORKERS).map(|rank| (0..len).map(|index| value(rank, index)).collect()).collect()
}

fn job(exact_sums: bool) -> Assignment {
    Assignment { exact_sums, ..assignment(WORKERS, &SHARES, 4) }
}

fn network(exact_sums: bool, fate: Fate, aggregated: u64) -> Network {
    let peer_timeout = std::time::Duration::from_secs(250);
    let mut network = Network::with_peer_timeout(job(exact_sums), aggregated, fate, peer_timeout);
    for worker in &mut network.workers {
        *worker = worker.clone().with_non_finite(NonFinite::Pass);
    }
    network
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn it_spoils_its_block_at_every_worker_and_nothing_else(
        faults in faults(),
        seed in any::<u64>(),
        aggregated in 0u64..8,
        sizes in prop_oneof![Just(1e-30f32), Just(1.0), Just(1e36)],
        value in prop_oneof![Just(f32::NAN), Just(f32::INFINITY), Just(f32::NEG_INFINITY)],
        exact in proptest::bool::weighted(0.3),
    ) {
        let (len, places) = if exact { (EXACT_LEN, EXACT_SPOILT) } else { (LEN, SPOILT) };
        let mut finite = network(exact, kind_fate(), aggregated);
        let mut spoilt = network(exact, fate_in(faults, seed), aggregated);
        let right = run_round(&mut finite, &gradients(sizes, len));
        for round in 0..5 {
            let mut with = gradients(sizes, len);
            let now = round == 2 || round == 3;
            if now {
                places.iter().for_each(|(rank, index)| with[*rank][*index] = value);
            }
            let sum = run_round(&mut spoilt, &with);
            for (index, (seen, right)) in sum.iter().zip(&right).enumerate() {
                let is_near = |(_, spoilt): &(usize, usize)| match exact {
                    true => index == *spoilt,
                    false => index / 256 == spoilt / 256,
                };
                let right = match now && places.iter().any(is_near) {
                    true if exact => value,
                    true => f32::NAN,
                    false => *right,
                };
                prop_assert_eq!(seen.to_bits(), right.to_bits(), "round {}: value {}", round, index);
            }
        }
    }
}

/// A short tensor's sums are those of IEEE 754.
#[test]
fn infinities_are_summed_where_sums_are_exact() {
    let (infinity, nan) = (f32::INFINITY, f32::NAN);
    let values = [
        ([1.0, infinity, 2.0], infinity),
        ([infinity, infinity, f32::MIN], infinity),
        ([-infinity, 0.0, 3.0], -infinity),
        ([infinity, 1.0, -infinity], nan),
        ([nan, 1.0, -infinity], nan),
        ([f32::MAX, f32::MAX, f32::MIN], f32::MAX),
        ([-0.0, -0.0, -0.0], 0.0),
    ];
    for aggregated in [0b000, 0b111] {
        let mut network = network(false, kind_fate(), aggregated);
        let of_worker = |rank: usize| values.iter().map(|(values, _)| values[rank]).collect::<Vec<f32>>();
        let sums = run_round(&mut network, &[0, 1, 2].map(of_worker));
        assert_eq!(bits(&sums), bits(&values.map(|(_, sum)| sum)));
    }
}

#[test]
fn it_may_come_in_the_first_round_and_at_all_workers() {
    let mut network = network(false, kind_fate(), 0b111);
    let all = vec![vec![f32::NAN; LEN]; WORKERS];
    assert!(run_round(&mut network, &all).iter().all(|value| value.is_nan()));
    let gradients = gradients(1.0, LEN);
    let sum = run_round(&mut network, &gradients);
    let right: Vec<f32> =
        (0..LEN).map(|index| gradients.iter().map(|gradient| gradient[index]).sum()).collect();
    assert_eq!(sum, right, "whole numbers are exact");
}

/// A worker without that setting aborts the job, for any setting of the others.
#[test]
fn it_passes_only_where_it_may() {
    for exact in [false, true] {
        for len in [5, LEN] {
            let mut network = Network::new(job(exact), 0b111, kind_fate());
            for rank in 0..2 {
                network.workers[rank] = network.workers[rank].clone().with_non_finite(NonFinite::Pass);
            }
            let mut with = gradients(1.0, len);
            with[2][0] = f32::INFINITY;
            for end in network.all_reduce(&with) {
                let expected = end.expect_err("no sum").to_string();
                assert!(expected.contains("gradient"), "{expected}");
            }
        }
    }
}

/// Packets on links, and seconds, of a round of gradients on a network with that much loss. A round before
/// has measured round trips.
fn cost(with: &[Vec<f32>], loss: f64) -> (u64, f64) {
    let job = assignment(WORKERS + 1, &SHARES, 64);
    let mut network = Network::new(job, 0b0111, lossy(loss, 1));
    for worker in &mut network.workers {
        *worker = worker.clone().with_non_finite(NonFinite::Pass);
    }
    run_round(&mut network, &super::gradients(WORKERS + 1, 0, with[0].len()));
    let (packets, start) = (network.frames, network.now);
    run_round(&mut network, with);
    (network.frames - packets, network.now.since(start).as_secs_f64())
}

/// Blocks with a NaN are sent as zeros, at the rate and through the slots of all others.
#[test]
fn a_round_with_a_nan_costs_less_than_twice_a_round_without() {
    let len = 32 * 3000;
    let finite = super::gradients(WORKERS + 1, 1, len);
    for loss in [0.0, 0.01] {
        let (packets, seconds) = cost(&finite, loss);
        for (what, every) in [("one value", len), ("a value per block", 256), ("all values", 1)] {
            let mut spoilt = finite.clone();
            spoilt[1].iter_mut().step_by(every).for_each(|value| *value = f32::NAN);
            let (with, longer) = cost(&spoilt, loss);
            println!(
                "loss {loss}, NaN in {what}: {with} packet-hops for {packets}, {:.3} ms for {:.3} ms",
                1e3 * longer,
                1e3 * seconds
            );
            assert!(longer <= 2.0 * seconds, "{what}: {longer} s for {seconds} s");
            assert!(with <= 2 * packets, "{what}: {with} packet-hops for {packets}");
        }
    }
}
