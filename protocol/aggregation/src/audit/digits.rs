//! Exact sum of floats by long addition: one digit per power of two, carried at the end. Slower than
//! [`crate::exact_sum`] and independent of it.

/// Positions of 2^-149 to 2^170: enough for the sum of 2^42 floats.
const PLACES: usize = 320;
/// Positions of a sum above the position of its largest float: 24 of a mantissa, and 42 of carries.
const PLACES_ABOVE: usize = 24 + 42;

/// The sum of floats, as IEEE 754 has it where some are not finite.
pub(super) fn sum(floats: impl Iterator<Item = f32> + Clone) -> f32 {
    if floats.clone().all(f32::is_finite) {
        return rounded_sum(floats);
    }
    // One that is not finite decides, and no order of them matters.
    floats.filter(|float| !float.is_finite()).sum()
}

/// The sum of finite floats, rounded to the nearest, half to even; +0 if it is zero.
fn rounded_sum(floats: impl Iterator<Item = f32>) -> f32 {
    let mut digits = [0i64; PLACES];
    let (mut least, mut end) = (PLACES, 0);
    for float in floats {
        let (mantissa, place) = parts(float);
        digits[place] += mantissa;
        (least, end) = (least.min(place), end.max(place + PLACES_ABOVE));
    }
    let Some(taken) = digits.get_mut(least..end) else { return 0.0 };
    let is_negative = carry(taken) < 0;
    if is_negative {
        taken.iter_mut().for_each(|digit| *digit = -*digit);
        carry(taken);
    }
    let size = of_digits(&digits[..end]);
    if is_negative { -size } else { size }
}

/// Returns a float as `mantissa · 2^(place - 149)`.
pub(super) fn parts(float: f32) -> (i64, usize) {
    let bits = float.to_bits();
    let (exponent, fraction) = (bits >> 23 & 0xff, i64::from(bits & 0x7f_ffff));
    let (size, place) = if exponent == 0 { (fraction, 0) } else { (fraction + 0x80_0000, exponent - 1) };
    (if float.is_sign_negative() { -size } else { size }, place as usize)
}

/// Makes every digit 0 or 1. Returns the carry out of the last digit: -1 if the number is negative.
fn carry(digits: &mut [i64]) -> i64 {
    digits.iter_mut().fold(0, |carried, digit| {
        let total = *digit + carried;
        *digit = total.rem_euclid(2);
        total.div_euclid(2)
    })
}

/// Returns the float nearest to a non-negative number. The hardware rounds 53 digits and a sticky digit for
/// all lower ones, which decides every tie correctly.
fn of_digits(digits: &[i64]) -> f32 {
    let length = digits.iter().rposition(|digit| *digit == 1).map_or(0, |top| top + 1);
    let first = length.saturating_sub(53);
    let leading = digits[first..length].iter().rev().fold(0i64, |number, digit| 2 * number + digit);
    let rest = i64::from(digits[..first].contains(&1));
    let rounded = (2 * leading + rest) as f32;
    // Exact, or an infinity: the number is 2^-126 at least if any of its digits was rounded off.
    (f64::from(rounded) * power_of_two(first as i32 - 150)) as f32
}

/// Returns 2^power exactly.
pub(super) fn power_of_two(power: i32) -> f64 {
    f64::from_bits(((1023 + power) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::exact_sum::ExactSum;

    proptest! {
        /// Compares two algorithms for the sum.
        #[test]
        fn sums_are_those_of_the_accumulator(bits in proptest::collection::vec(any::<u32>(), 0..100)) {
            // All but NaNs and infinities.
            let is_finite = |bits: &u32| bits >> 23 & 0xff != 0xff;
            let finite = |bits: &u32| f32::from_bits(if is_finite(bits) { *bits } else { bits ^ 1 << 23 });
            let mut sum = ExactSum::default();
            bits.iter().map(finite).for_each(|float| sum.add(float));
            prop_assert_eq!(rounded_sum(bits.iter().map(finite)).to_bits(), sum.rounded().to_bits());
        }
    }
}
