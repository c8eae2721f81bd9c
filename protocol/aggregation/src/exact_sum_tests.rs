use num_bigint::{BigInt, BigUint, Sign};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::vec;
use std::vec::Vec;

use super::*;

fn sum(values: &[f32]) -> f32 {
    let mut sum = ExactSum::default();
    values.iter().for_each(|value| sum.add(*value));
    sum.rounded()
}

/// A finite float as a multiple of 2^-149.
fn units(value: f32) -> BigInt {
    // Exact: every f32 times 2^149 is within f64, and a whole number.
    let exponent = (value.to_bits() >> 23 & 0xff).max(1) - 1;
    let mantissa = f64::from(value) / 2f64.powi(exponent as i32 - 149);
    BigInt::from(mantissa as i64) << exponent
}

/// The float nearest to that many times 2^-149, found by trying: no float is nearer, and of two the even one
/// is taken.
fn nearest(units_of_sum: &BigInt) -> f32 {
    let size = units_of_sum.magnitude();
    let of_bits = |bits: u32| match bits {
        // The next power after the largest float.
        0x7f80_0000 => BigUint::from(1u32) << (128 + 149),
        _ => units(f32::from_bits(bits)).into_parts().1,
    };
    let (mut low, mut high) = (0u32, 0x7f80_0000u32);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if of_bits(middle) <= *size { low = middle } else { high = middle }
    }
    let (twice, between) = (size * 2u32, of_bits(low) + of_bits(high));
    let bits = if twice > between || twice == between && low % 2 == 1 { high } else { low };
    f32::from_bits(bits) * if units_of_sum.sign() == Sign::Minus { -1.0 } else { 1.0 }
}

/// Any finite float: all exponents alike, subnormal numbers and zeros among them.
fn any_float() -> impl Strategy<Value = f32> {
    (0..=254u32, any::<bool>(), 0..1u32 << 23).prop_map(|(exponent, negative, fraction)| {
        f32::from_bits(u32::from(negative) << 31 | exponent << 23 | fraction)
    })
}

/// Returns floats of similar magnitude, so that sums round, tie, cancel and overflow.
fn near_floats() -> impl Strategy<Value = Vec<f32>> {
    (0..=250u32).prop_flat_map(|least| {
        let one = (0..=4u32, any::<bool>(), prop_oneof![Just(0), Just(0x7f_ffff), 0..1u32 << 23]);
        let float = one.prop_map(move |(more, negative, fraction)| {
            f32::from_bits(u32::from(negative) << 31 | (least + more) << 23 | fraction)
        });
        proptest::collection::vec(float, 1..=40)
    })
}

fn config() -> ProptestConfig {
    ProptestConfig { rng_seed: RngSeed::Fixed(4), failure_persistence: None, ..ProptestConfig::default() }
}

fn is_right(values: &[f32]) -> Result<(), TestCaseError> {
    let right = nearest(&values.iter().copied().map(units).sum());
    let seen = sum(values);
    prop_assert_eq!(seen.to_bits(), right.to_bits(), "{} instead of {}: {:?}", seen, right, values);
    let mut turned = values.to_vec();
    turned.sort_by(f32::total_cmp);
    prop_assert_eq!(sum(&turned).to_bits(), seen.to_bits(), "in another order");
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn sums_are_the_nearest_float_to_the_real_sum(
        values in proptest::collection::vec(any_float(), 1..=1000),
    ) {
        is_right(&values)?;
    }

    #[test]
    fn sums_of_like_floats_too(values in near_floats()) {
        is_right(&values)?;
    }

    /// All but a few terms cancel.
    #[test]
    fn cancelling_values_leave_zero(
        values in proptest::collection::vec(any_float(), 1..=200),
        rest in near_floats(),
    ) {
        let both: Vec<f32> = values.iter().chain(&rest).copied().chain(values.iter().map(|v| -v)).collect();
        prop_assert_eq!(sum(&both).to_bits(), sum(&rest).to_bits());
        is_right(&both)?;
    }
}

#[test]
fn the_reference_of_these_tests_rounds_as_hardware_does() {
    for (a, b) in
        [(1.0, f32::EPSILON / 2.0), (1.5, -3e-8), (f32::MAX, 1e31), (f32::MAX, 1.1e31), (1e-45, 3e-45)]
    {
        assert_eq!(nearest(&(units(a) + units(b))).to_bits(), (a + b).to_bits(), "{a} + {b}");
    }
}

#[test]
fn a_sum_of_two_is_that_of_the_hardware() {
    let edges =
        [0.0, f32::from_bits(1), f32::MIN_POSITIVE, 1.0, 1.0 + f32::EPSILON, 3.5e-8, 16_777_215.0, f32::MAX];
    for a in edges.into_iter().flat_map(|a| [a, -a]) {
        for b in edges.into_iter().flat_map(|b| [b, -b]) {
            // But for the sign of a zero.
            assert_eq!(sum(&[a, b]).to_bits(), (a + b + 0.0).to_bits(), "{a} + {b}");
        }
    }
}

#[test]
fn zeros_have_no_sign() {
    assert_eq!(sum(&[]).to_bits(), 0);
    assert_eq!(sum(&[-0.0, -0.0]).to_bits(), 0);
    assert_eq!(sum(&[3.5, -3.5]).to_bits(), 0);
    assert_eq!(sum(&[f32::from_bits(1), -f32::from_bits(1)]).to_bits(), 0);
}

#[test]
fn sums_beyond_f32_are_infinities_and_can_return() {
    assert_eq!(sum(&[f32::MAX, f32::MAX]), f32::INFINITY);
    assert_eq!(sum(&[f32::MIN; 1000]), f32::NEG_INFINITY);
    assert_eq!(sum(&[f32::MAX, f32::MAX, f32::MIN]), f32::MAX);
    // Half of the last place of the largest float rounds to infinity, any less does not.
    let half = 2f32.powi(103);
    assert_eq!(sum(&[f32::MAX, half]), f32::INFINITY);
    assert_eq!(sum(&[f32::MAX, half, -f32::from_bits(1)]), f32::MAX);
}

#[test]
fn ties_go_to_even_unless_the_least_bit_decides() {
    let (one, half) = (1.0f32, f32::EPSILON / 2.0);
    assert_eq!(sum(&[one, half]), 1.0);
    assert_eq!(sum(&[one, f32::EPSILON, half]), 1.0 + 2.0 * f32::EPSILON);
    assert_eq!(sum(&[one, half, f32::from_bits(1)]), 1.0 + f32::EPSILON);
    assert_eq!(sum(&[one, half, -f32::from_bits(1)]), 1.0);
}

/// Checks the maximum number of workers with terms of the largest magnitude.
#[test]
fn carries_have_room() {
    let workers = 16_384;
    let mut values = vec![f32::MAX; workers];
    values.extend(vec![f32::MIN; workers - 1]);
    assert_eq!(sum(&values), f32::MAX);
    let negative: Vec<f32> = values.iter().map(|value| -value).collect();
    assert_eq!(sum(&negative), f32::MIN);
}

/// Any float, NaN and infinities among them.
fn any_at_all() -> impl Strategy<Value = f32> {
    prop_oneof![
        8 => any_float(),
        1 => prop_oneof![Just(f32::NAN), Just(f32::INFINITY), Just(f32::NEG_INFINITY)],
        1 => prop_oneof![Just(0.0), Just(-0.0), Just(f32::MAX), Just(f32::MIN), Just(f32::from_bits(1))],
    ]
}

#[test]
fn digits_take_this_many_integers() {
    let per_float = [1, 2, 8, 64, 128, 256, 65_536].map(|workers| Digits::for_workers(workers).per_float());
    assert_eq!(per_float, [11, 12, 12, 14, 14, 15, 22]);
}

proptest! {
    #![proptest_config(config())]

    /// Sums digits of many workers as switches do, and floats as servers do: both give the sum of the floats,
    /// and never exceed 32 bits.
    #[test]
    fn sums_of_digits_are_sums_of_floats(
        floats in proptest::collection::vec(any_at_all(), 1..70),
        more in 1..1000usize,
    ) {
        let workers = floats.len() * more;
        let digits = Digits::for_workers(workers);
        let mut sums = vec![0i32; digits.per_float()];
        for float in &floats {
            let mut of_one = Vec::new();
            digits.write(*float, &mut of_one);
            prop_assert_eq!(of_one.len(), digits.per_float());
            for (sum, digit) in sums.iter_mut().zip(of_one) {
                let most = crate::scale::largest_addend(workers).unsigned_abs();
                prop_assert!(digit.unsigned_abs() <= most);
                *sum = sum.checked_add(digit).expect("32 bits");
            }
        }
        let mut sum = FloatSum::default();
        floats.iter().for_each(|float| sum.add(*float));
        let right = match floats.iter().all(|float| float.is_finite()) {
            true => nearest(&floats.iter().map(|float| units(*float)).sum()),
            false => floats.iter().filter(|float| !float.is_finite()).sum(),
        };
        for seen in [digits.read(&sums), sum.rounded()] {
            prop_assert!(seen.to_bits() == right.to_bits() || seen.is_nan() && right.is_nan(), "{seen} for {right}");
        }
    }
}

proptest! {
    #![proptest_config(config())]

    /// Writes sums as words from any place that loses nothing, cut to the fewest words that determine the
    /// number, and reads them back.
    #[test]
    fn words_are_the_sum(floats in near_floats(), place in 0..240u32, others in near_floats()) {
        let of = |floats: &[f32]| {
            let mut sum = ExactSum::default();
            floats.iter().for_each(|value| sum.add(*value));
            sum
        };
        let (sum, total) = (of(&floats), floats.iter().map(|value| units(*value)).sum::<BigInt>());
        let words = sum.words(place);
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        prop_assert_eq!(BigInt::from_signed_bytes_le(&bytes), &total >> place);
        let place = total.trailing_zeros().map_or(0, |zeros| zeros.min(240) as u32);
        let words = sum.words(place);
        let sign = if total.sign() == Sign::Minus { u32::MAX } else { 0 };
        let least = (1..=words.len()).find(|count| {
            words[*count..].iter().all(|word| *word == sign) && words[count - 1] >> 31 == sign >> 31
        });
        let mut both = of(&others);
        both.add_words(words[..least.expect("all words determine it")].iter().copied(), place);
        prop_assert_eq!(both, of(&[floats, others].concat()));
    }
}
