//! A NaN or an infinity that is let pass: it spoils its chunk at every worker, and nothing else.

use std::ops::Range;

use inart_core::{NonFinite, Split};
use proptest::prelude::*;

use super::network::{Fate, Network, assignment, kind_fate};
use super::run_round;
use super::trouble::{fate_in, weather};

const WORKERS: usize = 3;
/// Chunks of 32 values: 35 of the first shard and 35 of the second, two each.
const LEN: usize = 70;
const SHARES: [f64; 2] = [0.5, 0.5];
/// The values of the chunks that hold them, by shard.
const FIRST: Range<usize> = 0..32;
const LAST: Range<usize> = 67..70;

fn gradients(sizes: f32) -> Vec<Vec<f32>> {
    let value = |rank: usize, index: usize| sizes * ((rank * 31 + index * 7) % 19) as f32 - 3.0 * sizes;
    (0..WORKERS).map(|rank| (0..LEN).map(|index| value(rank, index)).collect()).collect()
}

fn network(fate: Fate, aggregated: u64) -> Network {
    let mut network = Network::new(assignment(WORKERS, &SHARES, 4), aggregated, fate);
    for worker in &mut network.workers {
        *worker = worker.clone().with_non_finite(NonFinite::Pass);
    }
    network
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn it_spoils_its_chunk_at_every_worker_and_nothing_else(
        weather in weather(),
        seed in any::<u64>(),
        aggregated in 0u64..8,
        sizes in prop_oneof![Just(1e-30f32), Just(1.0), Just(1e36)],
        value in prop_oneof![Just(f32::NAN), Just(f32::INFINITY), Just(f32::NEG_INFINITY)],
    ) {
        let split = Split::new(&assignment(WORKERS, &SHARES, 4), LEN);
        let mut finite = network(kind_fate(), aggregated);
        let mut spoilt = network(fate_in(weather, seed), aggregated);
        for round in 0..5 {
            let right = run_round(&mut finite, &split, &gradients(sizes));
            let mut with = gradients(sizes);
            let now = round == 2 || round == 3;
            if now {
                with[0][FIRST.start + 5] = value;
                with[2][LAST.start + 1] = value;
            }
            let sum = run_round(&mut spoilt, &split, &with);
            for (index, (seen, right)) in sum.iter().zip(&right).enumerate() {
                if now && (FIRST.contains(&index) || LAST.contains(&index)) {
                    prop_assert!(seen.is_nan(), "round {}: value {} is {}", round, index, seen);
                } else {
                    prop_assert_eq!(seen.to_bits(), right.to_bits(), "round {}: value {}", round, index);
                }
            }
        }
    }
}

/// In the first round nothing is agreed on but the first exponent.
#[test]
fn it_may_come_in_the_first_round_and_at_all_workers() {
    let mut network = network(kind_fate(), 0b111);
    let all = vec![vec![f32::NAN; LEN]; WORKERS];
    let split = Split::new(&assignment(WORKERS, &SHARES, 4), LEN);
    assert!(run_round(&mut network, &split, &all).iter().all(|value| value.is_nan()));
    let sum = run_round(&mut network, &split, &gradients(1.0));
    let right: Vec<f32> =
        (0..LEN).map(|index| gradients(1.0).iter().map(|gradient| gradient[index]).sum()).collect();
    assert_eq!(sum, right, "whole numbers are exact at the first exponent");
}

/// A worker that is not told so aborts the job, whatever the others do; so does every worker of an exact-sum
/// job.
#[test]
fn it_passes_only_where_it_may() {
    let mut exact = assignment(WORKERS, &[1.0], 4);
    exact.exact_sums = true;
    for (assignment, told) in [(assignment(WORKERS, &[1.0], 4), 0..2), (exact, 0..3)] {
        let mut network = Network::new(assignment, 0b111, kind_fate());
        for rank in told {
            network.workers[rank] = network.workers[rank].clone().with_non_finite(NonFinite::Pass);
        }
        let mut with = gradients(1.0);
        with[2][0] = f32::INFINITY;
        for end in network.all_reduce(&with) {
            let told = end.expect_err("no sum").to_string();
            assert!(told.contains("gradient"), "{told}");
        }
    }
}
