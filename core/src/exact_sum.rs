//! Exact sums of floats: what an exact-sum job's server adds up with.
//!
//! **Guarantee.** The sum of up to 2^42 finite floats is their sum as real numbers, rounded once to the
//! nearest `f32`, half to even: the same bits in whatever order they come. Subnormal numbers count as what
//! they are; a sum that rounds to 2^128 or more in size is an infinity, as IEEE 754 has it; a sum of zero is
//! +0, that of negative zeros too.
//!
//! A [`ExactSum`] is a fixed-point number long enough for all of `f32` (Kulisch's long accumulator: U.
//! Kulisch, W. Miranker, "The arithmetic of the digital computer: a new approach", SIAM Review 28, 1986;
//! "small superaccumulator" in R. M. Neal, "Fast exact summation using small and large superaccumulators",
//! 2015). Every finite `f32` is a whole multiple of 2^-149 and less than 2^128, that is 277 bits in such
//! units; 320 bits in two's complement leave 42 for the carries and one for the sign. All of it is integer
//! arithmetic.

/// Units are of 2^-149; limbs of 64 bits, the least first, in two's complement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExactSum([u64; LIMBS]);

const LIMBS: usize = 5;

/// Bits of an `f32` after the first.
const FRACTION_BITS: u32 = f32::MANTISSA_DIGITS - 1;

impl ExactSum {
    /// Adds a finite float.
    pub fn add(&mut self, value: f32) {
        let bits = value.to_bits();
        let fraction = bits & ((1 << FRACTION_BITS) - 1);
        let (mantissa, place) = match bits >> FRACTION_BITS & 0xff {
            0 => (fraction, 0),
            exponent => (fraction | 1 << FRACTION_BITS, exponent - 1),
        };
        let shifted = u128::from(mantissa) << (place % 64);
        let parts = [shifted as u64, (shifted >> 64) as u64, 0, 0, 0];
        // The negative of a number is its complement and one, carried in where the number begins: the limbs
        // below are zeros.
        let mut carry = value.is_sign_negative();
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

/// The bits of the float nearest to a number of 24 + `cut` bits, for `cut` from 1; beyond those of infinity
/// if it is too large.
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

#[cfg(test)]
#[path = "exact_sum_tests.rs"]
mod tests;
