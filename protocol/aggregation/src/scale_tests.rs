#![allow(clippy::unwrap_used, reason = "a test may panic")]

use proptest::prelude::*;
use std::vec;
use std::vec::Vec;

use super::*;

fn bits(floats: &[f32]) -> Vec<u32> {
    floats.iter().map(|float| float.to_bits()).collect()
}

fn quantized(values: &[f32], step: i32) -> Vec<i32> {
    let mut quantized = Vec::new();
    quantize(values, step, &mut quantized);
    quantized
}

/// Workers of which sums are full: powers of two, and next to them.
fn workers() -> impl Strategy<Value = usize> {
    (0..=16u32, -1..=1i32).prop_map(|(log, beside)| ((1i32 << log) + beside).clamp(1, 1 << 16) as usize)
}

#[test]
fn carries_take_as_many_bits_as_sums() {
    let seen = [1, 2, 3, 4, 5, 64, 65, 128, 129, 256, 65_535].map(carry_bits);
    assert_eq!(seen, [0, 1, 2, 2, 3, 6, 7, 7, 8, 9, 16]);
}

#[test]
fn sizes_are_in_the_order_of_numbers_and_infinity_is_the_greatest() {
    let ordered = [0.0, f32::from_bits(1), f32::MIN_POSITIVE, 1.0, -1.5, f32::MAX, f32::INFINITY, f32::NAN];
    let sizes = ordered.map(|value| largest_size(&[0.0, value, -0.0]));
    assert!(sizes.is_sorted() && sizes[0] == 0, "{sizes:?}");
    let [.., infinity, nan] = sizes;
    assert_eq!((infinity, nan), (0x7f80_0000, 0x7f80_0000), "no register of a switch ends there");
    assert_eq!(
        ordered.map(|value| exponent_of(largest_size(&[value])).is_some()),
        [true, true, true, true, true, true, false, false]
    );
    assert_eq!(exponent_of(largest_size(&[f32::MAX])), Some(Exponent::MAX));
    assert_eq!(exponent_of(0), Some(Exponent::MIN));
}

#[test]
fn subnormal_numbers_are_exact_where_no_float_is_finer() {
    let least = f32::from_bits(1);
    for workers in [1, 2, 8, 64] {
        let step = step(exponent_of(largest_size(&[least])).unwrap(), workers);
        assert_eq!(step, -149);
        assert_eq!(quantized(&[least, -least, 0.0, -0.0], step), [1, -1, 0, 0]);
        assert_eq!(bits(&[dequantize(3, step), dequantize(0, step)]), [3, 0]);
    }
}

proptest! {
    /// Gives all workers the largest value: the sum fits, and so does each value.
    #[test]
    fn no_sum_leaves_32_bits(workers in workers(), largest in 0..0x7f80_0000u32, negative: bool) {
        let value = f32::from_bits(largest) * if negative { -1.0 } else { 1.0 };
        let step = step(exponent_of(largest_size(&[value])).unwrap(), workers);
        let each = quantized(&[value], step)[0];
        prop_assert!(each.unsigned_abs() <= largest_addend(workers).unsigned_abs());
        prop_assert!(i32::try_from(i64::from(each) * workers as i64).is_ok());
    }

    /// W · 2^(e-1) is at most W · 2^(w-31) of the largest size, and W · 2^(w-32) of the power of two above:
    /// for sizes from 2^-125 on, and any below if steps for them are as fine as floats.
    #[test]
    fn steps_are_as_fine_as_stated(workers in 1..=128usize, largest in 0x0080_0000..0x7f80_0000u32) {
        prop_assume!(largest >= 0x0100_0000 || workers <= 64);
        let size = f64::from(f32::from_bits(largest));
        let step = step(exponent_of(largest as i32).unwrap(), workers);
        let stated = size * 2f64.powi(carry_bits(workers) as i32 - 31);
        prop_assert!(step == -149 || 2f64.powi(step - 1) <= stated);
        let above = 2f64.powi(size.log2().floor() as i32 + 1);
        let bound = above * 2f64.powi(carry_bits(workers) as i32 - 32);
        prop_assert!(step == -149 || 2f64.powi(step - 1) <= bound);
    }

    /// Uses lengths with full vectors and a remainder.
    #[test]
    fn values_are_rounded_half_to_even(
        sizes in proptest::collection::vec(any::<u32>(), 0..700),
        step in -40..=10i32,
    ) {
        let values: Vec<f32> = sizes.iter().map(|bits| f32::from_bits(*bits)).collect();
        prop_assert_eq!(first_not_finite(&values), values.iter().position(|value| !value.is_finite()));
        let scale = 2f64.powi(-step);
        let fits = |value: &f32| (f64::from(*value) * scale).round_ties_even().abs() <= f64::from(i32::MAX);
        let values: Vec<f32> = values.into_iter().filter(fits).collect();
        let one = |value: &f32| (f64::from(*value) * scale).round_ties_even() as i32;
        prop_assert_eq!(quantized(&values, step), values.iter().map(one).collect::<Vec<_>>());
    }

    /// Compares with the product in 64 bits, rounded once, bit for bit; also where it is subnormal, 0 or
    /// infinite.
    #[test]
    fn integers_are_read_as_the_nearest_floats(
        mut numbers in proptest::collection::vec(any::<i32>(), 0..70),
        shrink in 0..32u32,
        step in prop_oneof![-149..=-95i32, -149..=127i32],
    ) {
        numbers.iter_mut().for_each(|number| *number >>= shrink);
        numbers.extend([i32::MIN, i32::MIN + 1, -1, 0, 1, (1 << 24) + 1, (1 << 24) + 3, i32::MAX]);
        let nearest = |number: &i32| (f64::from(*number) * 2f64.powi(step)) as f32;
        let right: Vec<f32> = numbers.iter().map(nearest).collect();
        let one: Vec<f32> = numbers.iter().map(|number| dequantize(*number, step)).collect();
        let mut all = vec![f32::NAN; numbers.len()];
        dequantize_all(numbers.iter().copied(), step, &mut all);
        prop_assert_eq!((bits(&one), bits(&all)), (bits(&right), bits(&right)));
    }

    /// Integers that fit the block's bits are reproduced exactly.
    #[test]
    fn whole_numbers_are_exact(
        workers in 1..=128usize,
        numbers in proptest::collection::vec(-0xff_ffffi32..=0xff_ffff, 1..9),
    ) {
        let floats: Vec<f32> = numbers.iter().map(|number| *number as f32).collect();
        let step = step(exponent_of(largest_size(&floats)).unwrap(), workers);
        prop_assert!(step <= 0);
        let numbers = quantized(&floats, step);
        let back: Vec<f32> = numbers.into_iter().map(|number| dequantize(number, step)).collect();
        prop_assert_eq!(back, floats);
    }
}

#[test]
fn an_empty_slice_is_quantized_to_nothing() {
    assert_eq!(quantized(&[], 0), vec![0; 0]);
    assert_eq!((largest_size(&[]), first_not_finite(&[])), (0, None));
}
