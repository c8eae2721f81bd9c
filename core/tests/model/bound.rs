//! The error bound of `core/src/quantise.rs`, against exact sums in whole numbers, through the real workers
//! and servers: in terms of the exponents, and in terms of the sums before.

use inart_core::quantise::{
    dequantise, first_exponent, fit_sums, have_vanished, least_exponent, next_exponent, quantise,
};
use inart_core::{RoundRecord, Split};
use inart_wire::Exponent;
use num_bigint::BigInt;
use proptest::prelude::*;

use super::network::{Network, assignment, kind_fate};
use super::run_round;
use super::sizes::{Stated, check_stated};

/// Everything below is a multiple of 2^-UNIT: 2^-31 of the least f32 is, and half of that.
const UNIT: i32 = 181;

/// `mantissa · 2^power`, in units.
pub fn exact(mantissa: i64, power: i32) -> BigInt {
    BigInt::from(mantissa) << usize::try_from(power + UNIT).expect("no power is below the unit")
}

/// A finite float, in units, from its bits.
pub fn exact_f32(value: f32) -> BigInt {
    let bits = value.to_bits();
    let (mantissa, biased) = (i64::from(bits & 0x7f_ffff), (bits >> 23 & 0xff) as i32);
    let (mantissa, power) = if biased == 0 { (mantissa, -149) } else { (mantissa | 1 << 23, biased - 150) };
    exact(if value.is_sign_negative() { -mantissa } else { mantissa }, power)
}

pub fn size(value: &BigInt) -> BigInt {
    BigInt::from(value.magnitude().clone())
}

/// W · 2^(e-1), and 2^(r-1) if r > e.
fn bound(workers: usize, sent: Exponent, result: Exponent) -> BigInt {
    let (e, r) = (i32::from(sent), i32::from(result));
    exact(workers as i64, e - 1) + if r > e { exact(1, r - 1) } else { BigInt::ZERO }
}

/// One rounding to nearest: no float is nearer, and only a sum beyond them all reads as an infinity.
fn is_nearest(float: f32, sum: &BigInt) -> bool {
    if float.is_infinite() {
        // Halfway from the largest float to the next power of two.
        return size(sum) >= exact((1 << 25) - 1, 103) && float.is_sign_negative() == (*sum < BigInt::ZERO);
    }
    let off = |float: f32| size(&(exact_f32(float) - sum));
    [float.next_down(), float.next_up()].into_iter().all(|near| near.is_infinite() || off(float) <= off(near))
}

/// A round's largest error, as a share of the bound in percent, rounded down.
pub fn check(gradients: &[Vec<f32>], floats: &[f32], record: &RoundRecord, split: &Split) -> u64 {
    let mut worst = BigInt::ZERO;
    for (chunk, range) in split.chunks().enumerate() {
        let (sent, result) = (record.exponents[chunk], record.result_exponents[chunk]);
        let bound = bound(gradients.len(), sent, result);
        for index in range {
            let right: BigInt = gradients.iter().map(|gradient| exact_f32(gradient[index])).sum();
            let sum = exact(record.result[index].into(), result.into());
            let error = size(&(&sum - &right));
            assert!(error <= bound, "value {index}: {right} became {sum}, exponents {sent} and {result}");
            assert!(is_nearest(floats[index], &sum), "value {index}: {sum} reads as {}", floats[index]);
            worst = worst.max(error * 100 / &bound);
        }
    }
    worst.try_into().expect("an error within its bound")
}

/// Any finite float: every class, and any mixture of sizes.
pub fn any_finite() -> impl Strategy<Value = f32> {
    use proptest::num::f32::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
    prop_oneof![
        6 => POSITIVE | NEGATIVE | NORMAL | SUBNORMAL | ZERO,
        1 => POSITIVE | NEGATIVE | SUBNORMAL,
        1 => prop_oneof![Just(0.0), Just(-0.0), Just(f32::MAX), Just(f32::MIN), Just(f32::from_bits(1))],
        // Just between two quantised values of many exponents.
        2 => (-33..33i32, -20..20i32).prop_map(|(odd, power)| (2 * odd + 1) as f32 * 2f32.powi(power)),
    ]
}

/// Floats of a few binary digits around 2^`size`.
pub fn of_size(size: i32) -> impl Strategy<Value = f32> {
    (-1.0..1f64, -24..=0i32).prop_map(move |(part, less)| (part * 2f64.powi(size + less)) as f32)
}

const LEN: usize = 70;

/// The gradients of a few rounds: of sizes that jump or drift, or of anything.
fn rounds(workers: usize) -> impl Strategy<Value = Vec<Vec<Vec<f32>>>> {
    let value = (-120..125i32).prop_flat_map(|size| of_size(size).boxed());
    let gradient = prop_oneof![
        3 => (-120..125i32).prop_flat_map(|size| proptest::collection::vec(of_size(size), LEN)),
        3 => (-12..12i32).prop_flat_map(|size| proptest::collection::vec(of_size(size), LEN)),
        1 => proptest::collection::vec(value, LEN),
        2 => proptest::collection::vec(any_finite(), LEN),
    ];
    proptest::collection::vec(proptest::collection::vec(gradient, workers), 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 96,
        rng_seed: proptest::test_runner::RngSeed::Fixed(4),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Workers, a switch that sums some of them, two servers; the exponents adapt from round to round.
    #[test]
    fn sums_are_within_the_bound_round_after_round(
        rounds in prop_oneof![3 => 1..9usize, 1 => 9..=64usize].prop_flat_map(rounds),
        aggregated: u64,
    ) {
        let workers = rounds[0].len();
        let job = assignment(workers, &[0.6, 0.4], 4);
        let split = Split::new(&job, LEN);
        let mut stated: Vec<_> = split.chunks().map(|_| Stated::new(workers)).collect();
        let mut network = Network::new(job, aggregated & (u64::MAX >> (64 - workers)), kind_fate());
        for gradients in rounds {
            let floats = run_round(&mut network, &split, &gradients);
            let record = network.workers[0].record().unwrap();
            check(&gradients, &floats, &record, &split);
            check_stated(&mut stated, &gradients, &record, &split);
        }
    }

    /// The same rules without frames, for jobs up to the largest there is.
    #[test]
    fn sums_of_up_to_the_most_workers_are_within_the_bound(
        workers in prop_oneof![Just(65usize), Just(1000), Just(16_384), 7..16_384usize],
        rounds in proptest::collection::vec(proptest::collection::vec(any_finite(), 7), 1..5),
    ) {
        let mut agreed = first_exponent(workers);
        let mut stated = Stated::new(workers);
        for values in rounds {
            // Every sum has a bit of each.
            let gradient = |worker: usize| [values[worker % 7], values[(worker * worker + 1) % 7]];
            let fits = |exponent| {
                (0..7).all(|worker| quantise(&gradient(worker), exponent, &mut [0; 2]).is_ok())
            };
            let least = (0..7).map(|worker| least_exponent(&gradient(worker))).max().unwrap();
            let sent = if fits(agreed) { agreed } else { least };
            let (mut sums, mut right) = ([0i64; 2], [BigInt::ZERO, BigInt::ZERO]);
            for worker in 0..workers {
                let mut quantised = [0; 2];
                quantise(&gradient(worker), sent, &mut quantised).unwrap();
                for index in 0..2 {
                    sums[index] += i64::from(quantised[index]);
                    right[index] += exact_f32(gradient(worker)[index]);
                }
            }
            let result = fit_sums(&mut sums, sent);
            for index in 0..2 {
                let sum = exact(sums[index], result.into());
                prop_assert!(size(&(&sum - &right[index])) <= bound(workers, sent, result));
                prop_assert!(is_nearest(dequantise(sums[index] as i32, result), &sum));
            }
            let (sums, few) = (sums.map(|sum| sum as i32), [0, 1, 2, 3, 4, 5, 6].map(gradient));
            stated.check(&few.each_ref().map(|values| &values[..]), sent, &sums, result);
            let vanished = few.iter().any(|values| {
                let mut quantised = [0; 2];
                quantise(values, sent, &mut quantised).unwrap();
                have_vanished(values, &quantised)
            });
            agreed = next_exponent(workers, &sums, result, vanished);
        }
    }
}

/// Gradients that err by the whole bound, so that no lower one holds: without and with a shift of the result.
#[test]
fn the_bound_is_reached() {
    let job = assignment(3, &[1.0], 4);
    let split = Split::new(&job, 2);
    let unit = dequantise(1, first_exponent(3));
    // Halfway: to even, that is down, at each worker.
    let halves = vec![vec![0.5 * unit, 6.5 * unit]; 3];
    // The other value makes the sum too large by two bits. 3 · 6 = 18 is halfway between multiples of 4, and
    // goes down as well.
    let shifted = vec![vec![2_147_483_520.0 * unit, 6.5 * unit]; 3];
    for (gradients, shift) in [(halves, 0), (shifted, 2)] {
        for aggregated in [0b000, 0b111] {
            let mut network = Network::new(job.clone(), aggregated, kind_fate());
            let floats = run_round(&mut network, &split, &gradients);
            let record = network.workers[0].record().unwrap();
            assert_eq!(i32::from(record.result_exponents[0]) - i32::from(record.exponents[0]), shift);
            assert_eq!(check(&gradients, &floats, &record, &split), 100);
        }
    }
}

/// In the terms of the sums before: at most W · 2^(⌈log2 W⌉ - 23) of the largest, once the exponent has
/// settled.
#[test]
fn steady_gradients_err_by_a_small_part_of_the_largest_sum() {
    for (workers, bits) in [(1usize, 0i32), (2, 1), (3, 2), (8, 3), (9, 4), (64, 6)] {
        let job = assignment(workers, &[1.0], 4);
        let split = Split::new(&job, 32);
        let mut network = Network::new(job, 0, kind_fate());
        let gradients: Vec<Vec<f32>> = (0..workers)
            .map(|rank| {
                (0..32).map(|index| ((rank * 37 + index * 101) % 211) as f32 / 211.0 + 0.01).collect()
            })
            .collect();
        let mut largest = BigInt::ZERO;
        for round in 0..12 {
            run_round(&mut network, &split, &gradients);
            let record = network.workers[0].record().unwrap();
            if round > 8 {
                let stated = (&largest * workers * (1u32 << bits)) >> 23;
                assert!(
                    bound(workers, record.exponents[0], record.exponents[0]) <= stated,
                    "{workers}, {round}"
                );
                assert!(exact(1, record.exponents[0].into()) * 8 * workers > stated, "not by far less");
            }
            let sizes =
                record.result.iter().map(|v| size(&exact((*v).into(), record.result_exponents[0].into())));
            largest = sizes.max().unwrap();
        }
    }
}
