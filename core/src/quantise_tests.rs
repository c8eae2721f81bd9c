#![allow(clippy::unwrap_used, reason = "a test may panic")]

use proptest::prelude::*;
use std::vec;
use std::vec::Vec;

use super::*;

/// Floats with exact integer meanings: mantissa · 2^power, mantissa below 2^24.
fn exact_float() -> impl Strategy<Value = (i32, i32)> {
    ((-(1 << 24) + 1)..(1 << 24), -60..=0i32)
}

fn float((mantissa, power): (i32, i32)) -> f32 {
    let value = f64::from(mantissa) * power_of_two(power);
    assert_eq!(f64::from(value as f32), value);
    value as f32
}

/// The number times 2^62.
fn scaled(mantissa: i64, power: i32) -> i128 {
    i128::from(mantissa) << (62 + power)
}

proptest! {
    /// The error bound in the module's words, in exact integers.
    #[test]
    fn sums_are_within_the_stated_bound(
        exact in proptest::collection::vec(proptest::collection::vec(exact_float(), 4), 1..9),
        spare in 0..10i32,
    ) {
        let floats: Vec<Vec<f32>> = exact.iter().map(|g| g.iter().copied().map(float).collect()).collect();
        let needed = floats.iter().map(|gradient| least_exponent(gradient)).max().unwrap();
        let exponent = Exponent::saturating((i32::from(needed) + spare).max(-59));
        let mut sums = vec![0i64; 4];
        for gradient in &floats {
            let mut quantised = vec![0; 4];
            quantise(gradient, exponent, &mut quantised).unwrap();
            sums.iter_mut().zip(quantised).for_each(|(sum, value)| *sum += i64::from(value));
        }
        let result_exponent = fit_sums(&mut sums, exponent);
        let (e, r) = (i32::from(exponent), i32::from(result_exponent));
        let bound = scaled(floats.len() as i64, e - 1) + if r > e { scaled(1, r - 1) } else { 0 };
        for (index, sum) in sums.iter().enumerate() {
            let right: i128 = exact.iter().map(|g| scaled(g[index].0.into(), g[index].1)).sum();
            let error = (scaled(*sum, r) - right).abs();
            prop_assert!(error <= bound, "error {error} above {bound}");
        }
    }

    #[test]
    fn values_are_rounded_half_to_even(value in any::<f32>(), exponent in -40..=40i8) {
        prop_assume!(value.is_finite());
        let scaled = f64::from(value) * 2f64.powi(-i32::from(exponent));
        let mut quantised = [0];
        let result = quantise(&[value], exponent.into(), &mut quantised);
        let right = scaled.round_ties_even();
        prop_assert_eq!(result.is_ok(), right.abs() <= 2_147_483_647.0);
        if result.is_ok() {
            prop_assert_eq!(f64::from(quantised[0]), right);
        }
    }

    /// Long enough for vector instructions, and what is left over by them.
    #[test]
    fn many_values_are_what_each_alone_is(
        bits in proptest::collection::vec(any::<u32>(), 0..700),
        exponent in -40..=10i8,
    ) {
        let values: Vec<f32> = bits.iter().map(|bits| f32::from_bits(*bits)).collect();
        prop_assert_eq!(first_not_finite(&values), values.iter().position(|value| !value.is_finite()));
        let exponent = Exponent::from(exponent);
        let scale = 2f64.powi(-i32::from(exponent));
        let fits = |value: &f32| (f64::from(*value) * scale).round_ties_even().abs() <= f64::from(i32::MAX);
        let values: Vec<f32> = values.into_iter().filter(|value| fits(value)).collect();
        let mut quantised = vec![0; values.len()];
        prop_assert_eq!(quantise(&values, exponent, &mut quantised), Ok(()));
        let one = |value: &f32| (f64::from(*value) * scale).round_ties_even() as i32;
        prop_assert_eq!(&quantised, &values.iter().map(one).collect::<Vec<_>>());
        let mut floats = vec![0.0; values.len()];
        dequantise_all(&quantised, exponent, &mut floats);
        let one = |value: &i32| ((f64::from(*value) / scale) as f32).to_bits();
        let floats: Vec<_> = floats.into_iter().map(f32::to_bits).collect();
        prop_assert_eq!(floats, quantised.iter().map(one).collect::<Vec<_>>());
    }

    #[test]
    fn sums_that_fit_stay_as_they_are_up_to_the_last(
        sums in proptest::collection::vec(i64::from(i32::MIN)..=i64::from(i32::MAX), 1..300),
        place in any::<prop::sample::Index>(),
        beyond in 1..1i64 << 40,
        negative in any::<bool>(),
    ) {
        let mut same = sums.clone();
        prop_assert_eq!(fit_sums(&mut same, Exponent::from(3)), Exponent::from(3));
        prop_assert_eq!(&same, &sums);
        let mut large = sums;
        let place = place.index(large.len());
        large[place] = if negative { i64::from(i32::MIN) - beyond } else { i64::from(i32::MAX) + beyond };
        let shifted = fit_sums(&mut large, Exponent::from(3)) > Exponent::from(3);
        prop_assert!(shifted && large.iter().all(|sum| i32::try_from(*sum).is_ok()));
    }

    #[test]
    fn the_least_exponent_is_the_least_that_fits(values in proptest::collection::vec(any::<f32>(), 1..5)) {
        prop_assume!(first_not_finite(&values).is_none());
        let exponent = least_exponent(&values);
        let mut quantised = vec![0; values.len()];
        prop_assert!(quantise(&values, exponent, &mut quantised).is_ok());
        if exponent > Exponent::MIN {
            prop_assert!(quantise(&values, (exponent.get() - 1).into(), &mut quantised).is_err());
        }
    }

    #[test]
    fn sums_are_shifted_no_further_than_they_must(
        sums in proptest::collection::vec(-(1i64 << 46)..(1 << 46), 1..5),
    ) {
        let mut fitted = sums.clone();
        let shift = i32::from(fit_sums(&mut fitted, 0.into())) as u32;
        for (sum, fitted) in sums.iter().zip(&fitted) {
            prop_assert!(i32::try_from(*fitted).is_ok());
            let twice_error = ((fitted << shift) - sum).abs() * 2;
            prop_assert!(twice_error < 1 << shift || twice_error == 1 << shift && fitted % 2 == 0);
        }
        if shift > 0 {
            let scale = 2f64.powi(shift as i32 - 1);
            let largest = sums.iter().map(|sum| (*sum as f64 / scale).round_ties_even());
            let fits = -2_147_483_648.0..=2_147_483_647.0;
            prop_assert!(largest.into_iter().any(|value| !fits.contains(&value)));
        }
    }

    /// What the next exponent promises: values up to 2^8 times the last sum fit, and so does their sum.
    #[test]
    fn growth_within_the_headroom_does_not_saturate(
        workers in 1..200usize,
        largest in 1..=i32::MAX,
        result_exponent in -60..=40i8,
        vanished: bool,
    ) {
        let next = next_exponent(workers, &[0, -largest], result_exponent.into(), vanished);
        let value = dequantise(largest, result_exponent.into()) * 256.0;
        let mut quantised = [0];
        quantise(&[value], next, &mut quantised).unwrap();
        prop_assert!(i64::from(quantised[0]) * workers as i64 <= 1 << 31);
    }
}

#[test]
fn the_extremes_of_f32_fit_some_exponent() {
    for value in [f32::MAX, f32::MIN, f32::MIN_POSITIVE, f32::from_bits(1), 0.0, -0.0] {
        let mut quantised = [7];
        let exponent = least_exponent(&[value]);
        quantise(&[value], exponent, &mut quantised).unwrap();
        let error = (f64::from(dequantise(quantised[0], exponent)) - f64::from(value)).abs();
        assert!(error <= power_of_two(i32::from(exponent) - 1), "{value} became {}", quantised[0]);
    }
    let mut quantised = [0];
    assert_eq!(quantise(&[f32::MAX], 96.into(), &mut quantised), Err(DoesNotFit));
}

#[test]
fn zeros_leave_the_exponent_where_it_was() {
    for exponent in [126, -20, -36, -60, -127] {
        assert_eq!(next_exponent(6, &[0; 32], exponent.into(), false).get(), exponent);
    }
}

#[test]
fn a_sum_that_has_vanished_says_nothing_about_its_size() {
    for exponent in [126, 8, -20, -126, -127] {
        assert_eq!(next_exponent(6, &[0; 32], exponent.into(), true), Exponent::MIN);
    }
    // Somebody's values may vanish beside others' that do not.
    assert_eq!(next_exponent(6, &[1], 0.into(), true), next_exponent(6, &[1], 0.into(), false));
}

#[test]
fn exponents_end_where_they_scale() {
    assert_eq!(next_exponent(1, &[1], Exponent::MIN, false), Exponent::MIN);
    assert_eq!(next_exponent(6, &[0], Exponent::MIN, false), Exponent::MIN);
    assert_eq!(next_exponent(16_384, &[i32::MIN], 126.into(), false), Exponent::MAX);
}

#[test]
fn values_that_are_not_finite_fit_no_exponent_that_scales() {
    for value in [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let values = [1.0, value, -1.0];
        for exponent in [Exponent::MIN, 0.into(), Exponent::MAX] {
            assert_eq!(quantise(&values, exponent, &mut [0; 3]), Err(DoesNotFit));
        }
        assert_eq!(least_exponent(&values), Exponent::NOT_FINITE);
    }
    assert!(least_exponent(&[f32::MAX, f32::MIN]) < Exponent::MAX);
    let mut floats = [1.0; 2];
    dequantise_all(&[0, 7], Exponent::NOT_FINITE, &mut floats);
    assert!(floats.iter().all(|float| float.is_nan()));
}

#[test]
fn values_vanish_if_all_are_small_and_one_was_there() {
    let vanished = |values: &[f32]| {
        let mut quantised = vec![0; values.len()];
        quantise(values, 0.into(), &mut quantised).unwrap();
        have_vanished(values, &quantised)
    };
    assert!(vanished(&[0.0, 0.5, -0.5]) && vanished(&[f32::from_bits(1)]) && vanished(&[0.0, -65_535.0]));
    assert!(
        !vanished(&[]) && !vanished(&[0.0, -0.0]) && !vanished(&[0.1, -65_536.0]) && !vanished(&[65_535.5])
    );
}

#[test]
fn ties_go_to_even() {
    let mut sums = [3 << 31, 1 << 31, 5, 6, 7, -6, -2];
    assert_eq!(fit_sums(&mut sums, (-3).into()).get(), -3 + 2);
    assert_eq!(sums, [3 << 29, 1 << 29, 1, 2, 2, -2, 0]);
}

#[test]
fn only_finite_values_pass() {
    assert_eq!(first_not_finite(&[0.0, f32::MAX, -0.0]), None);
    assert_eq!(first_not_finite(&[0.0, f32::NAN]), Some(1));
    assert_eq!(first_not_finite(&[f32::NEG_INFINITY, f32::NAN]), Some(0));
}
