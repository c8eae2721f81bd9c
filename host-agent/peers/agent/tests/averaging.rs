//! Decentralized averaging.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use inart_peers_agent::{Received, average};
use inart_wire::Rank;
use proptest::prelude::*;

fn rank(number: u16) -> Rank {
    Rank::try_from(number).unwrap()
}

fn update(from: u16, values: &[f32]) -> Received {
    let words = Arc::new(values.iter().map(|value| value.to_bits()).collect());
    Received { from: rank(from), round: u32::from(from) + 5, words }
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

proptest! {
    /// Values are multiples of 2^-20, so their sum is an integer that i64 represents exactly.
    #[test]
    fn the_average_is_rounded_once_in_any_order_of_arrival(
        models in proptest::collection::vec(proptest::collection::vec(-(1i64 << 22)..1 << 22, 1500), 2..9),
        seed in any::<prop::sample::Index>(),
    ) {
        let unit = 2f64.powi(-20);
        let values: Vec<Vec<f32>> =
            models
                .iter()
                .map(|model| model.iter().map(|&value| (value as f64 * unit) as f32).collect())
                .collect();
        let me = seed.index(models.len());
        let others = (0..models.len()).filter(|&at| at != me);
        let mut received: Vec<Received> = others.map(|at| update(at as u16, &values[at])).collect();
        let first = average(rank(me as u16), &values[me], &received);
        received.reverse();
        let second = average(rank(me as u16), &values[me], &received);
        prop_assert_eq!(bits(&first.values), bits(&second.values));
        let mean = |at: usize| {
            let sum: i64 = models.iter().map(|model| model[at]).sum();
            (sum as f64 * unit / models.len() as f64) as f32
        };
        let expected: Vec<f32> = (0..1500).map(mean).collect();
        prop_assert_eq!(bits(&first.values), bits(&expected));
        prop_assert_eq!(first.of.len(), models.len() - 1);
    }
}

#[test]
fn unfit_updates_are_left_out_and_named() {
    let received = [
        update(4, &[1.0, f32::NAN]),
        update(3, &[7.0, 8.0, 9.0]),
        update(2, &[f32::NEG_INFINITY, 1.0]),
        update(0, &[3.0, -0.5]),
    ];
    let mean = average(rank(1), &[1.0, 0.0], &received);
    assert_eq!(mean.values, [2.0, -0.25]);
    assert_eq!(mean.of, [(rank(0), 5)]);
    assert_eq!(mean.not_finite, [(rank(2), 7), (rank(4), 9)]);
    assert_eq!(mean.other_length, [(rank(3), 8)]);
    assert_eq!(average(rank(1), &[1.0, 0.0], &[]).values, [1.0, 0.0]);
}
