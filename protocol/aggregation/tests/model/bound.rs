//! The error bound of `src/scale.rs`, and exactness where it is promised, against exact sums in whole
//! numbers: through the real workers, servers and a switch.

use proptest::prelude::*;

use super::drawn::{Drawn, Plan, drawn, plan};
use super::network::{Network, assignment, kind_fate};
use super::oracle::{check, units};
use super::run_round;

/// Checks every sum of a stream of tensors against the audit and the exact sums.
fn check_stream(plan: &Plan, drawn: &[Drawn], workers: usize, exact: bool) {
    let stream: Vec<_> = drawn.iter().map(|tensor| tensor.tensors(workers)).collect();
    for (tensors, sums) in stream.iter().zip(plan.sums(&stream, exact)) {
        check(tensors, &sums, exact);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 192,
        rng_seed: proptest::test_runner::RngSeed::Fixed(4),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn sums_are_exact_or_within_the_bound(
        plan in plan(),
        tensors in proptest::collection::vec(drawn(), 1..6),
        workers in prop_oneof![1..4usize, 4..10usize],
        exact in proptest::bool::weighted(0.2),
    ) {
        check_stream(&plan, &tensors, workers, exact);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 12,
        rng_seed: proptest::test_runner::RngSeed::Fixed(4),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// At most 128 workers' integers are exact if they are large; with more workers they may be rounded up.
    #[test]
    fn sums_of_many_workers_are_exact_or_within_the_bound(
        plan in plan(),
        tensors in proptest::collection::vec(drawn(), 1..3),
        workers in prop_oneof![Just(64usize), Just(65), Just(128), Just(129), 10..140usize],
    ) {
        check_stream(&plan, &tensors, workers, false);
    }
}

/// Gives all workers the largest value of the block: the sum is the largest that integers can represent.
#[test]
fn sums_of_the_largest_values_do_not_saturate() {
    for workers in [1, 2, 3, 4, 64, 128, 129] {
        for value in [f32::from_bits(0x3fff_ffff), -f32::MAX, f32::MAX, f32::from_bits(0x007f_ffff)] {
            let mut network = Network::new(assignment(workers, &[1.0], 16), u64::MAX, kind_fate());
            let tensors = vec![vec![value; 300]; workers];
            check(&tensors, &run_round(&mut network, &tensors), false);
            assert_eq!(network.switch.saturated, 0);
            assert_eq!(network.servers[0].counters().overflows, 0);
        }
    }
}

/// Uses values whose error is the whole bound, so that no lower bound holds.
#[test]
fn the_bound_is_reached() {
    for aggregated in [0b000, 0b111] {
        let mut network = Network::new(assignment(3, &[1.0], 4), aggregated, kind_fate());
        let mut tensor = vec![1.0; 300];
        // The unit is 2^-28 for three workers whose largest value is 1: halfway, rounded to even, that is
        // down.
        (tensor[1], tensor[2]) = (2f32.powi(-29), 6.5 * 2f32.powi(-28));
        let sum = run_round(&mut network, &vec![tensor.clone(); 3]);
        for index in [1, 2] {
            assert_eq!(units(tensor[index]) * 3 - units(sum[index]), units(3.0 * 2f32.powi(-29)));
        }
        assert_eq!(sum[0], 3.0);
    }
}
