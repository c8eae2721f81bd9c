//! Exact sums of floats: of tensors of up to [`EXACT_VALUES`] values, and of all tensors of an exact-sum job.
//!
//! **Guarantee.** The sum of up to 2^42 finite floats is their sum as real numbers, rounded once to the
//! nearest `f32`, half to even. The bits do not depend on the order. Subnormal numbers count exactly. A sum
//! that rounds to a magnitude of 2^128 or more is an infinity, as in IEEE 754. A sum of zero is +0, also that
//! of negative zeros. A sum with a NaN, or with infinities of both signs, is NaN; one with infinities of one
//! sign is that infinity.
//!
//! An [`ExactSum`] is a fixed-point number long enough for all of `f32` (Kulisch's long accumulator: U.
//! Kulisch, W. Miranker, "The arithmetic of the digital computer: a new approach", SIAM Review 28, 1986;
//! "small superaccumulator" in R. M. Neal, "Fast exact summation using small and large superaccumulators",
//! 2015). Every finite `f32` is a whole multiple of 2^-149 and less than 2^128, that is 277 bits in such
//! units; 320 bits in two's complement leave 42 for the carries and one for the sign. All of it is integer
//! arithmetic.
//!
//! In frames a float is represented by [`Digits`] of that number: integers that switches add like any others,
//! and whose sums determine the sum.

use crate::scale::carry_bits;

/// Values of the longest tensor that every job sums exactly.
pub const EXACT_VALUES: usize = 256;

/// Length, in values, of the longest tensor that workers send as digits, for switches to sum. Longer tensors
/// up to [`EXACT_VALUES`] are sent as floats, and the server sums them: one frame in place of a dozen.
pub const DIGITS_VALUES: usize = 64;

/// Units are of 2^-149; limbs of 64 bits, the least first, in two's complement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExactSum([u64; LIMBS]);

const LIMBS: usize = 5;

/// Bits of an `f32` after the first.
const FRACTION_BITS: u32 = f32::MANTISSA_DIGITS - 1;

impl ExactSum {
    /// Adds a finite float.
    pub fn add(&mut self, value: f32) {
        let (mantissa, place) = parts(value);
        self.add_shifted(mantissa, place, value.is_sign_negative());
    }

    /// Adds an integer times 2^`place` units: its words in two's complement, the lowest first.
    ///
    /// # Panics
    ///
    /// If a word starts beyond the 320 bits.
    pub fn add_words(&mut self, words: impl IntoIterator<Item = u32>, place: u32) {
        let (mut at, mut highest) = (place, 0);
        for word in words {
            self.add_shifted(word, at, false);
            (at, highest) = (at + u32::BITS, word);
        }
        if highest >> 31 == 1 {
            self.add_shifted(1, at, true);
        }
    }

    /// Returns the sum in units of 2^`place`, rounded down: words in two's complement, the lowest first.
    pub fn words(&self, place: u32) -> [u32; 2 * LIMBS] {
        let sign = if self.0[LIMBS - 1] >> 63 == 1 { u64::MAX } else { 0 };
        let limb = |at: u32| self.0.get(at as usize).copied().unwrap_or(sign);
        core::array::from_fn(|word| {
            let bit = place + word as u32 * u32::BITS;
            ((u128::from(limb(bit / 64 + 1)) << 64 | u128::from(limb(bit / 64))) >> (bit % 64)) as u32
        })
    }

    /// Adds ± `size` · 2^`place` units.
    fn add_shifted(&mut self, size: u32, place: u32, negative: bool) {
        let shifted = u128::from(size) << (place % 64);
        let parts = [shifted as u64, (shifted >> 64) as u64, 0, 0, 0];
        // The negative of a number is its complement and one, carried in where the number begins: the limbs
        // below are zeros.
        let mut carry = negative;
        let sign = if carry { u64::MAX } else { 0 };
        for (limb, part) in self.0[(place / 64) as usize..].iter_mut().zip(parts) {
            (*limb, carry) = limb.carrying_add(part ^ sign, carry);
        }
    }

    /// The sum, rounded to the nearest float, half to even.
    pub fn rounded(&self) -> f32 {
        let mut limbs = self.0;
        let negative = limbs[LIMBS - 1] >> 63 == 1;
        if negative {
            let mut carry = true;
            for limb in &mut limbs {
                (*limb, carry) = (!*limb).carrying_add(0, carry);
            }
        }
        let top = limbs.iter().rposition(|&limb| limb != 0).unwrap_or(0);
        let length = 64 * (top + 1) as u32 - limbs[top].leading_zeros();
        let size = match length.checked_sub(f32::MANTISSA_DIGITS) {
            // So small numbers are the bits of a float as they are, subnormal or not.
            None | Some(0) => limbs[0] as u32,
            Some(cut) => rounded_off(&limbs, cut).min(f32::INFINITY.to_bits()),
        };
        f32::from_bits(size | u32::from(negative) << 31)
    }
}

/// Returns the bits of the float nearest to a number of 24 + `cut` bits, for `cut` from 1; beyond those of
/// infinity if it is too large.
fn rounded_off(limbs: &[u64; LIMBS], cut: u32) -> u32 {
    let limb_of = |bit: u32| (bit / 64) as usize;
    let low = limbs[limb_of(cut)];
    let high = limbs.get(limb_of(cut) + 1).copied().unwrap_or(0);
    let mantissa = ((u128::from(high) << 64 | u128::from(low)) >> (cut % 64)) as u32;
    let half = cut - 1;
    let half_limb = limbs[limb_of(half)];
    let is_half = half_limb >> (half % 64) & 1 == 1;
    let is_more =
        half_limb & ((1 << (half % 64)) - 1) != 0 || limbs[..limb_of(half)].iter().any(|&limb| limb != 0);
    let up = is_half && (is_more || mantissa & 1 == 1);
    // The mantissa's first bit counts as one in the exponent, and so does a carry out of it.
    (cut << FRACTION_BITS) + mantissa + u32::from(up)
}

/// A finite float without its sign: its mantissa, and by how many bits that is shifted, in units of 2^-149.
fn parts(value: f32) -> (u32, u32) {
    let bits = value.to_bits();
    let fraction = bits & ((1 << FRACTION_BITS) - 1);
    match bits >> FRACTION_BITS & 0xff {
        0 => (fraction, 0),
        exponent => (fraction | 1 << FRACTION_BITS, exponent - 1),
    }
}

/// The exact sum of floats that may not be finite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FloatSum {
    finite: ExactSum,
    /// Whether it contains a positive infinity, and a negative one; a NaN counts as both.
    infinite: [bool; 2],
}

impl FloatSum {
    /// Adds a float.
    pub fn add(&mut self, value: f32) {
        if value.is_finite() {
            return self.finite.add(value);
        }
        self.infinite[0] |= value.is_nan() || value > 0.0;
        self.infinite[1] |= value.is_nan() || value < 0.0;
    }

    /// The sum, rounded to the nearest float, half to even.
    pub fn rounded(&self) -> f32 {
        match self.infinite {
            [true, true] => f32::NAN,
            [true, false] => f32::INFINITY,
            [false, true] => f32::NEG_INFINITY,
            [false, false] => self.finite.rounded(),
        }
    }
}

/// Representation of a float as integers whose sums over all workers are exact: digits of 31 - w bits, the
/// lowest first, with the float's sign, for w = [`carry_bits`]. Two more integers follow: 1 for a positive
/// infinity, and 1 for a negative one; a NaN counts as both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digits {
    bits: u32,
}

/// Bits of the largest float in units of 2^-149.
const FLOAT_BITS: u32 = 277;

impl Digits {
    /// Returns the digits of a job of `workers` workers.
    pub fn for_workers(workers: usize) -> Self {
        Self { bits: 31 - carry_bits(workers) }
    }

    /// Returns the number of integers per float.
    pub fn per_float(self) -> usize {
        FLOAT_BITS.div_ceil(self.bits) as usize + 2
    }

    /// Appends the integers of a float.
    pub fn write(self, value: f32, digits: &mut alloc::vec::Vec<i32>) {
        let start = digits.len();
        digits.resize(start + self.per_float(), 0);
        let digits = &mut digits[start..];
        let [.., positive, negative] = digits else { return };
        if !value.is_finite() {
            *positive = i32::from(value.is_nan() || value > 0.0);
            *negative = i32::from(value.is_nan() || value < 0.0);
            return;
        }
        let (mantissa, place) = parts(value);
        let mut rest = u64::from(mantissa) << (place % self.bits);
        for digit in &mut digits[(place / self.bits) as usize..] {
            if rest == 0 {
                break;
            }
            let size = (rest & ((1 << self.bits) - 1)) as i32;
            *digit = if value.is_sign_negative() { -size } else { size };
            rest >>= self.bits;
        }
    }

    /// Returns the float nearest to the sum whose digit sums are `sums` ([`Self::per_float`] integers).
    pub fn read(self, sums: &[i32]) -> f32 {
        let [digits @ .., positive, negative] = sums else { return 0.0 };
        let mut sum = FloatSum { infinite: [*positive != 0, *negative != 0], ..FloatSum::default() };
        for (digit, place) in digits.iter().zip((0..).step_by(self.bits as usize)) {
            sum.finite.add_shifted(digit.unsigned_abs(), place, *digit < 0);
        }
        sum.rounded()
    }
}

#[cfg(test)]
#[path = "exact_sum_tests.rs"]
mod tests;
