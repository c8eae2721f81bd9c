//! The bits of a sum are a function only of the workers' values and of the number of workers.

use proptest::prelude::*;

use super::bits;
use super::drawn::{drawn, plan};

/// Returns the indices of `tensors` tensors in another order.
fn order(tensors: usize) -> impl Strategy<Value = Vec<usize>> {
    Just((0..tensors).collect::<Vec<_>>()).prop_shuffle()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 128,
        rng_seed: proptest::test_runner::RngSeed::Fixed(4),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_same_tensors_have_the_same_sum_by_any_plan(
        [one, other] in [plan(), plan()],
        (tensors, order) in (1..5usize).prop_flat_map(|tensors| {
            (proptest::collection::vec(drawn(), tensors), order(tensors))
        }),
        earlier in proptest::collection::vec(drawn(), 0..3),
        workers in 1..8usize,
        exact in proptest::bool::weighted(0.1),
    ) {
        let of_workers = |drawn: &super::drawn::Drawn| drawn.tensors(workers);
        let stream: Vec<_> = tensors.iter().map(of_workers).collect();
        let sums = one.sums(&stream, exact);
        let earlier: Vec<_> = earlier.iter().map(of_workers).collect();
        let turned = order.iter().map(|place| stream[*place].clone());
        let turned: Vec<_> = earlier.iter().cloned().chain(turned).collect();
        let others = other.sums(&turned, exact);
        for (place, sum) in order.into_iter().zip(&others[earlier.len()..]) {
            prop_assert_eq!(bits(sum), bits(&sums[place]), "tensor {}", place);
        }
    }
}
