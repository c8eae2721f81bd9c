//! Consecutive values of very different magnitudes: every sum is right from the first step on, independent of
//! earlier ones.

use num_bigint::BigInt;

use super::network::{Network, assignment, kind_fate};
use super::oracle::{check, units};
use super::{run_round, tensors};

/// Every worker's tensor, of values near `size`.
fn near(size: f32, workers: usize, len: usize) -> Vec<Vec<f32>> {
    let of = |rank: usize, index: usize| size * (1.0 + ((rank * 37 + index * 101) % 256) as f32 / 512.0);
    (0..workers).map(|rank| (0..len).map(|index| of(rank, index)).collect()).collect()
}

/// Returns the sums of a stream with at most `most` tensors in flight, in which a switch sums three of four
/// workers.
fn sums(stream: &[Vec<Vec<f32>>], most: usize) -> Vec<Vec<f32>> {
    let mut network = Network::new(assignment(4, &[0.6, 0.4], 4), 0b0111, kind_fate());
    let records = tensors::run(&mut network, stream, most);
    records.into_iter().map(|records| records[0].result.clone()).collect()
}

/// A sum as exact as f64 makes it.
fn right(tensors: &[Vec<f32>], index: usize) -> f64 {
    tensors.iter().map(|tensor| f64::from(tensor[index])).sum()
}

#[test]
fn a_mean_after_a_count_of_its_length_is_right_in_every_round() {
    for len in [1, 2, 256, 257, 1000] {
        for most in [1, 4] {
            let rounds = [10_000.0, 8000.0, 0.0123].repeat(4);
            let stream: Vec<_> = rounds.iter().map(|size| near(*size, 4, len)).collect();
            for (round, (tensors, sums)) in stream.iter().zip(sums(&stream, most)).enumerate() {
                check(tensors, &sums, false);
                for (index, sum) in sums.iter().enumerate() {
                    let error = f64::from(*sum) / right(tensors, index) - 1.0;
                    assert!(error.abs() < 1e-7, "{len} values, round {round}: {sum}, off by {error:e}");
                }
            }
        }
    }
}

#[test]
fn a_small_bucket_after_a_large_one_of_its_length_is_right_in_every_iteration() {
    for most in [1, 2] {
        let iterations = [1.0, 1e-6].repeat(6);
        let stream: Vec<_> = iterations.iter().map(|size| near(*size, 4, 1000)).collect();
        for (bucket, (tensors, sums)) in stream.iter().zip(sums(&stream, most)).enumerate() {
            let square = |number: f64| number * number;
            let errors = sums.iter().enumerate();
            let errors: f64 =
                errors.map(|(index, sum)| square(f64::from(*sum) - right(tensors, index))).sum();
            let size: f64 = (0..1000).map(|index| square(right(tensors, index))).sum();
            let error = (errors / size).sqrt();
            assert!(error < 1e-6, "bucket {} of iteration {}: {error:e}", bucket % 2, bucket / 2);
        }
    }
}

#[test]
fn a_count_is_right_in_the_first_step_and_in_all_later_ones() {
    for len in [1, 1000] {
        let step = vec![vec![2_000_006.0; len]; 4];
        for sums in sums(&vec![step; 5], 1) {
            assert_eq!(sums, vec![8_000_024.0; len]);
        }
    }
}

/// Three buckets of their own lengths and sizes, each as in the iteration before.
#[test]
fn buckets_of_all_sizes_are_exact_where_integers_hold_their_values() {
    let iteration = [(1e6, 96), (1.0, 700), (1e-6, 1300)].map(|(size, len)| vec![vec![size; len]; 4]);
    let stream: Vec<_> = iteration.iter().cycle().take(9).cloned().collect();
    for (tensors, sums) in stream.iter().zip(sums(&stream, 3)) {
        assert_eq!(sums, vec![4.0 * tensors[0][0]; sums.len()]);
    }
}

/// Returns the largest error of rounds of six workers with values of these magnitudes, relative to the
/// largest sum: log2, rounded up; `None` if there is no error.
fn errors(sizes: &[f32], holders: usize) -> Vec<Option<i64>> {
    const LEN: usize = 300;
    let mut network = Network::new(assignment(6, &[1.0], 4), 0b1111, kind_fate());
    let round = |size: &f32| {
        let mut tensors = near(*size, 6, LEN);
        tensors[holders..].iter_mut().for_each(|tensor| tensor.fill(0.0));
        let sums = run_round(&mut network, &tensors);
        check(&tensors, &sums, false);
        let right = |index: usize| tensors.iter().map(|tensor| units(tensor[index])).sum::<BigInt>();
        let size = |value: BigInt| BigInt::from(value.into_parts().1);
        let error = (0..LEN).map(|index| size(units(sums[index]) - right(index))).max().unwrap();
        let largest = (0..LEN).map(|index| size(right(index))).max().unwrap();
        let share = if error == BigInt::ZERO { 0 } else { ((error << 100u32) / largest).bits() };
        (share > 0).then(|| i64::try_from(share).unwrap() - 100)
    };
    sizes.iter().map(round).collect()
}

/// Returns whether all errors are below 2^-23 of the largest sum: twice a float's own rounding.
fn are_precise(errors: &[Option<i64>]) -> bool {
    errors.iter().all(|share| share.is_none_or(|bits| bits <= -23))
}

#[test]
fn tiny_values_are_no_zeros_in_any_round() {
    for holders in [6, 1] {
        for size in [1e-7, 1e-9, 1e-12, 1e-20, 1e-30, 2e-33] {
            let errors = errors(&[size; 3], holders);
            assert!(are_precise(&errors), "{size}: {errors:?}");
        }
    }
}

#[test]
fn nothing_is_rounded_where_no_float_is_finer() {
    for size in [2f32.powi(-123), f32::MIN_POSITIVE, f32::MIN_POSITIVE / 8.0, f32::from_bits(3)] {
        assert_eq!(errors(&[size; 2], 6), [None, None], "{size:e}");
    }
}

#[test]
fn an_outlier_costs_nothing_in_other_rounds() {
    for outlier in [1.0, 1e10, 1e30, f32::MAX / 8.0] {
        for size in [1e-3, 1e-7, 1e-12, 1e-30] {
            let errors = errors(&[size, outlier, size, outlier, outlier, size], 6);
            assert!(are_precise(&errors), "{size} and {outlier}: {errors:?}");
        }
    }
}

/// An outlier affects its block of 256 values, and no other.
#[test]
fn an_outlier_costs_nothing_in_other_blocks() {
    let mut network = Network::new(assignment(6, &[1.0], 4), 0b1111, kind_fate());
    let mut tensors = near(1e-9, 6, 700);
    tensors[2][300] = 1e30;
    let sums = run_round(&mut network, &tensors);
    for (index, sum) in sums.iter().enumerate() {
        match index {
            300 => assert_eq!(*sum, 1e30),
            256..512 => assert_eq!(*sum, 0.0),
            _ => assert!((f64::from(*sum) / right(&tensors, index) - 1.0).abs() < 1e-7, "{index}: {sum}"),
        }
    }
}

/// Half of the workers have the negated values of the others, except for a small part.
#[test]
fn values_that_nearly_cancel_out_are_seen() {
    for size in [1e-3, 1e-12, 1e-25] {
        let mut network = Network::new(assignment(6, &[1.0], 4), 0b1111, kind_fate());
        let of = |rank: usize| if rank.is_multiple_of(2) { size } else { -0.97 * size };
        for len in [32, 300] {
            let tensors: Vec<_> = (0..6).map(|rank| vec![of(rank); len]).collect();
            let sums = run_round(&mut network, &tensors);
            assert!(sums.iter().all(|sum| (*sum / size - 0.09).abs() < 1e-6), "{size}: {sums:?}");
        }
    }
}

#[test]
fn rounds_of_zeros_let_no_small_value_be_forgotten() {
    for size in [1e-12, 1e-25] {
        let rounds: Vec<f32> = (0..40).map(|round| if round % 10 == 9 { size } else { 0.0 }).collect();
        let errors = errors(&rounds, 6);
        assert!(are_precise(&errors), "{size}: {errors:?}");
    }
}

/// Growing magnitudes, without saturation or requests for bypass.
#[test]
fn sums_that_outgrow_those_before_are_made_in_the_switch() {
    let mut network = Network::new(assignment(4, &[1.0], 4), 0b1111, kind_fate());
    for size in [1e-3, 1.0, 4000.0, 1e9, 3e20, f32::MAX] {
        let tensors = vec![vec![size; 300]; 4];
        let sum = run_round(&mut network, &tensors);
        assert_eq!(sum, vec![4.0 * size; 300], "infinite if beyond f32, as floating-point addition has it");
    }
    let server = network.servers[0].counters();
    assert_eq!((network.switch.saturated, server.overflows, server.requests_sent), (0, 0, 0));
}
