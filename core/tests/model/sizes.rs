//! Exponents follow the values, whatever their size: the bound of `core/src/quantise.rs` in terms of the sums
//! before, over the whole range of `f32`; and what that costs.

use inart_core::quantise::{
    first_exponent, fit_sums, have_vanished, least_exponent, next_exponent, quantise,
};
use inart_core::{RoundRecord, Split};
use inart_wire::Exponent;
use num_bigint::BigInt;
use proptest::prelude::*;

use super::bound::{check, exact, exact_f32, of_size, size};
use super::network::{Network, assignment, kind_fate};
use super::run_round;
use super::trouble::{fate_in, weather};

/// What a chunk's round before says about its exponent.
enum Before {
    Nothing,
    /// The largest sum.
    Sum(BigInt),
    Vanished,
    /// W · 2^(e-1) in that round.
    Zeros(BigInt),
}

/// The bound on `W · 2^(e-1)` of one chunk, as stated.
pub struct Stated {
    workers: usize,
    before: Before,
}

impl Stated {
    pub fn new(workers: usize) -> Self {
        Self { workers, before: Before::Nothing }
    }

    /// Checks a round, with the workers' values of the chunk; each may stand for many workers.
    pub fn check(&mut self, gradients: &[&[f32]], sent: Exponent, result: &[i32], result_exponent: Exponent) {
        let bits = i32::try_from(self.workers.next_power_of_two().ilog2()).unwrap();
        let of_workers = |power| exact(self.workers as i64, power);
        let err = of_workers(i32::from(sent) - 1);
        let largest = |values: &[f32]| values.iter().map(|value| size(&exact_f32(*value))).max().unwrap();
        let each: Vec<_> = gradients.iter().map(|values| largest(values)).collect();
        let known = match &self.before {
            Before::Nothing => of_workers(bits - 24),
            Before::Sum(sum) => ((sum * self.workers) << bits) >> 23,
            Before::Vanished => BigInt::ZERO,
            Before::Zeros(err) => err.clone(),
        };
        let by_value = (each.iter().max().unwrap() * self.workers) >> 31;
        let stated = known.max(by_value).max(of_workers(-128));
        assert!(err <= stated, "exponent {sent}: {err} units, stated are {stated}");

        // Whatever is smaller is rounded to less than 2^16.
        let visible = exact((1 << 17) - 1, i32::from(sent) - 1);
        let sum =
            result.iter().map(|value| size(&exact((*value).into(), result_exponent.into()))).max().unwrap();
        self.before = if sum > BigInt::ZERO {
            Before::Sum(sum)
        } else if each.iter().any(|largest| *largest > BigInt::ZERO && *largest < visible) {
            Before::Vanished
        } else {
            let largest = each.iter().max().unwrap();
            assert!(*largest == BigInt::ZERO || err <= (largest * self.workers) >> 16);
            Before::Zeros(err)
        };
    }
}

/// Checks a round of every chunk.
pub fn check_stated(stated: &mut [Stated], gradients: &[Vec<f32>], record: &RoundRecord, split: &Split) {
    for ((chunk, range), stated) in split.chunks().enumerate().zip(stated) {
        let gradients: Vec<_> = gradients.iter().map(|gradient| &gradient[range.clone()]).collect();
        let result = &record.result[range];
        stated.check(&gradients, record.exponents[chunk], result, record.result_exponents[chunk]);
    }
}

const LEN: usize = 70;

/// The size of the values in each round, as a power of two; `None`: zeros.
fn sizes() -> impl Strategy<Value = Vec<Option<i32>>> {
    let any = || -149..=127i32;
    let step = prop_oneof![Just(0), -3..=3i32, -40..=40i32];
    prop_oneof![
        (any(), 2..7usize).prop_map(|(size, rounds)| vec![Some(size); rounds]),
        (any(), any(), 0..4usize).prop_map(|(size, outlier, at)| {
            (0..7).map(|round| Some(if round == at { outlier } else { size })).collect()
        }),
        (any(), step).prop_map(|(first, step)| {
            (0..6).map(|round| Some((first + round * step).clamp(-149, 127))).collect()
        }),
        proptest::collection::vec(proptest::option::weighted(0.3, any()), 3..9),
        (any(), proptest::collection::vec(proptest::bool::weighted(0.3), 4..12))
            .prop_map(|(size, there)| there.into_iter().map(|there| there.then_some(size)).collect()),
    ]
}

/// Every round's gradients: of all workers alike, or of one, with zeros or with much smaller values at the
/// others.
fn rounds(workers: usize) -> impl Strategy<Value = Vec<Vec<Vec<f32>>>> {
    let others = prop_oneof![3 => Just(Some(0)), 1 => Just(None), 1 => (-80..0i32).prop_map(Some)];
    (sizes(), others).prop_flat_map(move |(sizes, others)| {
        let gradient = move |size: Option<i32>, rank: usize| {
            let less = if rank == 0 { Some(0) } else { others };
            match size.zip(less) {
                Some((size, less)) => {
                    proptest::collection::vec(of_size((size + less).max(-149)), LEN).boxed()
                }
                None => Just(vec![0.0; LEN]).boxed(),
            }
        };
        sizes
            .into_iter()
            .map(|size| (0..workers).map(|rank| gradient(size, rank)).collect::<Vec<_>>())
            .collect::<Vec<_>>()
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 96,
        rng_seed: proptest::test_runner::RngSeed::Fixed(4),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_bound_holds_as_stated_for_all_sizes(
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

    /// What vanished is the same whatever is lost.
    #[test]
    fn no_frame_that_is_lost_changes_an_exponent(
        rounds in (1..7usize).prop_flat_map(rounds),
        aggregated: u64,
        weather in weather(),
        seed: u64,
    ) {
        let workers = rounds[0].len();
        let job = assignment(workers, &[0.3, 0.7], 2);
        let split = Split::new(&job, LEN);
        let aggregated = aggregated & ((1 << workers) - 1);
        let mut kind = Network::new(job.clone(), aggregated, kind_fate());
        let peer_timeout = std::time::Duration::from_secs(250);
        let mut bad = Network::with_peer_timeout(job, aggregated, fate_in(weather, seed), peer_timeout);
        for gradients in rounds {
            run_round(&mut kind, &split, &gradients);
            run_round(&mut bad, &split, &gradients);
            for (worker, reference) in bad.workers.iter().zip(&kind.workers) {
                prop_assert_eq!(worker.record(), reference.record());
            }
        }
    }
}

/// The largest error of rounds of six workers with values of these sizes, as a share of the largest sum:
/// log2, rounded up; `None` if every value is zero or there is no error.
fn errors(values: &[f32], holders: usize) -> Vec<Option<i64>> {
    let job = assignment(6, &[1.0], 4);
    let split = Split::new(&job, 32);
    let mut network = Network::new(job, 0b1111, kind_fate());
    let round = |value: &f32| {
        let of = |rank: usize, index: usize| (1.0 + (rank * 37 + index * 101) as f32 / 4111.0) * value;
        let gradients: Vec<Vec<f32>> = (0..6)
            .map(|rank| (0..32).map(|index| if rank < holders { of(rank, index) } else { 0.0 }).collect())
            .collect();
        run_round(&mut network, &split, &gradients);
        let record = network.workers[0].record().unwrap();
        let right =
            |index: usize| gradients.iter().map(|gradient| exact_f32(gradient[index])).sum::<BigInt>();
        let sum = |index: usize| exact(record.result[index].into(), record.result_exponents[0].into());
        let error = (0..32).map(|index| size(&(sum(index) - right(index)))).max().unwrap();
        let largest = (0..32).map(|index| size(&right(index))).max().unwrap();
        let share = if error == BigInt::ZERO { 0 } else { ((error << 100u32) / largest).bits() };
        (share > 0).then(|| i64::try_from(share).unwrap() - 100)
    };
    values.iter().map(round).collect()
}

/// Whether all errors are below 2^-17 of the largest sum.
fn are_precise(errors: &[Option<i64>]) -> bool {
    errors.iter().all(|share| share.is_none_or(|bits| bits <= -17))
}

#[test]
fn tiny_values_are_no_zeros_but_in_the_first_round() {
    for holders in [6, 1] {
        for value in [1e-7, 1e-9, 1e-12, 1e-20, 1e-30, 2e-33] {
            let errors = errors(&[value; 6], holders);
            assert!(are_precise(&errors[2..]), "{value}: {errors:?}");
        }
    }
}

#[test]
fn the_floor_is_half_a_step() {
    let floor = |value: f32| {
        let errors = errors(&[value; 3], 6);
        errors[2].unwrap_or(i64::MIN)
    };
    // 2^-109: 2^18 steps. 2^-126: two steps. 2^-129: less than half of one.
    assert!(floor(2f32.powi(-109)) <= -17);
    assert!((-4..=0).contains(&floor(2f32.powi(-126))), "{}", floor(2f32.powi(-126)));
    assert_eq!(floor(f32::MIN_POSITIVE / 8.0), 1, "nothing is left");
}

#[test]
fn an_outlier_costs_one_round() {
    for outlier in [1.0, 1e10, 1e30, f32::MAX / 8.0] {
        for value in [1e-3, 1e-7, 1e-12, 1e-30] {
            let errors = errors(&[value, value, value, outlier, value, value, value, value], 6);
            assert!(are_precise(&errors[2..4]), "{value}: {errors:?}");
            assert!(are_precise(&errors[6..]), "{value} after {outlier}: {errors:?}");
        }
    }
}

/// Half of the workers have the opposite of the others, but for a small part.
#[test]
fn values_that_nearly_cancel_out_are_seen() {
    let job = assignment(6, &[1.0], 4);
    let split = Split::new(&job, 32);
    for value in [1e-3, 1e-12, 1e-25] {
        let mut network = Network::new(job.clone(), 0b1111, kind_fate());
        let of = |rank: usize| if rank.is_multiple_of(2) { value } else { -0.97 * value };
        let gradients: Vec<_> = (0..6).map(|rank| vec![of(rank); 32]).collect();
        let sums: Vec<_> = (0..4).map(|_| run_round(&mut network, &split, &gradients)[0] / value).collect();
        assert!(sums[2..].iter().all(|sum| (*sum - 0.09).abs() < 1e-4), "{value}: {sums:?}");
    }
}

#[test]
fn rounds_of_zeros_let_no_small_value_be_forgotten() {
    for value in [1e-12, 1e-25] {
        let rounds: Vec<f32> = (0..200).map(|round| if round % 50 == 0 { value } else { 0.0 }).collect();
        let errors = errors(&rounds, 6);
        assert!(are_precise(&errors[1..]), "{value}: {errors:?}");
    }
}

/// What an exponent is made of: workers, the exponent before, the result, its exponent, and whether it has
/// vanished.
type Rule = fn(usize, Exponent, &[i32], Exponent, bool) -> Exponent;

/// A rule that forgets small values as soon as it sees zeros, and lets exponents fall by two at most.
fn forgetful(
    workers: usize,
    agreed: Exponent,
    result: &[i32],
    result_exponent: Exponent,
    _: bool,
) -> Exponent {
    let zeros = result.iter().all(|value| *value == 0);
    let wanted = match zeros {
        true => -39 + i32::try_from(workers.next_power_of_two().ilog2()).unwrap(),
        false => next_exponent(workers, result, result_exponent, false).into(),
    };
    Exponent::saturating(wanted.max(i32::from(agreed) - 2))
}

/// How many of a chunk's rounds are clipped, and how many have values but a sum of zero. Values of each round
/// are of one size; zeros in most.
fn costs(rule: Rule, rounds: &[f32]) -> (usize, usize) {
    const WORKERS: usize = 6;
    let mut agreed = first_exponent(WORKERS);
    let (mut clipped, mut lost) = (0, 0);
    for size in rounds {
        let values: Vec<f32> = (0..32).map(|index| size * (1.0 - index as f32 / 64.0)).collect();
        let mut quantised = vec![0; 32];
        let mut sent = agreed;
        if quantise(&values, sent, &mut quantised).is_err() {
            clipped += 1;
            sent = least_exponent(&values);
            quantise(&values, sent, &mut quantised).unwrap();
        }
        let mut sums: Vec<i64> = quantised.iter().map(|value| i64::from(*value) * WORKERS as i64).collect();
        let result_exponent = fit_sums(&mut sums, sent);
        let sums: Vec<i32> = sums.into_iter().map(|sum| sum as i32).collect();
        let zero = sums.iter().all(|sum| *sum == 0);
        lost += usize::from(zero && *size != 0.0);
        agreed = rule(WORKERS, agreed, &sums, result_exponent, have_vanished(&values, &quantised));
    }
    (clipped, lost)
}

/// Of steady sizes, in every so manieth round.
fn sparse(size: f64, spread: f64, one_in: u64) -> Vec<f32> {
    let mut state = 1u64;
    let mut uniform = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut round = || {
        let there = uniform() * (one_in as f64) < 1.0;
        let power = size + spread * (uniform() * 2.0 - 1.0);
        if there { 2f64.powf(power) as f32 } else { 0.0 }
    };
    (0..2000).map(|_| round()).collect()
}

/// What is remembered while there are zeros costs one clip at most, when very small values are seen for the
/// first time, and saves those of values that have grown less than zeros made them seem to.
#[test]
fn zeros_do_not_make_the_next_values_clip() {
    let rule: Rule =
        |workers, _, result, exponent, vanished| next_exponent(workers, result, exponent, vanished);
    let (mut clipped, mut forgetful_clipped) = (0, 0);
    for size in [-90, -40, -30, -20, -12, -8, -4, 0, 4] {
        for (spread, one_in) in [(0.0, 2), (0.0, 10), (0.0, 50), (3.0, 2), (3.0, 10), (3.0, 50)] {
            let rounds = sparse(size.into(), spread, one_in);
            let (clips, lost) = costs(rule, &rounds);
            let (before, lost_before) = costs(forgetful, &rounds);
            let what =
                format!("2^{size} +- {spread}, one in {one_in}: {clips} and {before} clipped, {lost} lost");
            assert!(clips <= before + 1 && lost <= 1.min(lost_before + 1), "{what}");
            clipped += clips;
            forgetful_clipped += before;
        }
    }
    println!("{clipped} clipped, {forgetful_clipped} if zeros were all that is known");
    assert!(clipped * 10 < forgetful_clipped);
}
