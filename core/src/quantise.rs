//! Floats as scaled integers and back.
//!
//! A chunk's values are `round(g · 2^-e)`, half to even, as int32; e is the chunk's exponent, the same at
//! every worker. The sum S of these integers is exact: switches add with saturation and mark the frame if
//! they had to, the server adds in 64 bits. The result is S itself when it fits int32, else S divided by the
//! least power of two 2^k that makes all of the chunk's values fit, rounded half to even, with exponent r = e
//! + k.
//!
//! **Error bound.** For W workers, each result differs from the exact sum of the workers' floats by at most
//! `W · 2^(e-1)`, plus `2^(r-1)` if r > e; reading it as `f32` adds one rounding to nearest. For: each of W
//! roundings to a multiple of 2^e errs by half of that at most; S adds them up without error; dividing S
//! rounds to a multiple of 2^r once more. Less would be wrong: there are gradients that err by just as much.
//!
//! **Exponents** need no extra message: e is a function of what every worker holds, bit for bit, namely the
//! chunk's result in the round before ([`next_exponent`]). With w = ⌈log2 W⌉:
//! 1. In the first round, values up to 2^8 in size fit: e = w - 23.
//! 2. After a sum that is not zero, with L the size of the chunk's largest, values up to 2^8 L fit, and so
//!    does their sum: 2^e is at most `2^(w - 22) · L`. e goes there at once, however far it is.
//! 3. After a sum of zero that is marked *vanished*, because a worker had other values than zero and all were
//!    rounded to less than 2^16 in size, maybe to zero, e is the lowest there is, -127. A sum of zero does
//!    not tell how small they are, so those which do not fit (below) tell it themselves: in that round, e is
//!    the least exponent at which all fit.
//! 4. After any other sum of zero, e stays. Each worker's values were zeros, or the largest was 2^16 or more,
//!    so they cancelled out to within `W · 2^-16` of the largest.
//!
//! So, with V the size of the chunk's largest value at any worker, `W · 2^(e-1)` is at most the largest of
//! * `W · 2^(w - 23) · L` after a sum that is not zero (`2^-17 L` for 8 workers); `W · 2^(w - 24)` in the
//!   first round; what it was in the round before by rule 4; nothing by rule 3,
//! * `W · 2^-31 · V`, since 2^e is at most 2^-30 V if values do not fit,
//! * `W · 2^-128`, since e is not below -127.
//!
//! That is so in all rounds, for all finite values. It does not promise that a round whose values are much
//! smaller than L tells anything about them: its sum may be all zeros. The next does, since L is small by
//! then, or they have vanished. Values up to 2^-128 in size are zeros for ever.
//!
//! **Values that do not fit** their agreed exponent: the worker quantises them at the least exponent that
//! fits and sends them by bypass, marked overflow. The server starts the chunk anew at the highest exponent
//! any worker needs, and asks the others for theirs. So the result is the same whatever is lost or late.
//!
//! **Zero** is exact. **NaN and infinities**: the worker aborts the job before it sends a frame of the round,
//! and every worker learns whose gradient it was; or, if it was told to let them [pass](crate::NonFinite), it
//! sends the chunk as one that needs the exponent [`NOT_FINITE`](Exponent::NOT_FINITE), which is above all
//! others. So the chunk ends at that exponent, all values of its sum are NaN at every worker, and the next
//! round has the exponent that this one would have had. A sum of finite values that is beyond `f32` reads as
//! an infinity, as floating-point addition has it.

use inart_wire::Exponent;

/// Bits that a value may be larger than the last sum and still fit.
const HEADROOM_BITS: i32 = 8;
/// Size of the values expected in the first round, as a power of two.
const FIRST_SIZE_BITS: i32 = 8;
/// Quantised values that are all smaller than 2 to this have vanished, or nearly.
const VANISHING_BITS: u32 = 16;

/// 2^power, exactly; `power` is at most a few hundred.
fn power_of_two(power: i32) -> f64 {
    f64::from_bits(((1023 + power) as u64) << 52)
}

/// The exponent at which `workers` values of sizes up to 2^`size_bits` add up within int32.
fn exponent_for(size_bits: i32, workers: usize) -> i32 {
    let sum_bits = usize::BITS - workers.saturating_sub(1).leading_zeros();
    size_bits + sum_bits as i32 - 31
}

/// The exponent every chunk starts with in a job of `workers` workers.
pub fn first_exponent(workers: usize) -> Exponent {
    Exponent::saturating(exponent_for(FIRST_SIZE_BITS, workers))
}

/// The exponent of a chunk in the next round, from its result in this one and whether that is marked
/// [vanished](inart_wire::Flags::VANISHED).
pub fn next_exponent(workers: usize, result: &[i32], result_exponent: Exponent, vanished: bool) -> Exponent {
    // As many bits as the largest has.
    let sizes = result.iter().fold(0, |bits, value| bits | value.unsigned_abs());
    match sizes {
        0 if vanished => Exponent::MIN,
        // A sum of zero fits whatever its values were scaled by, so this is that.
        0 => result_exponent,
        _ => {
            // Never more than the largest float needs, which is far below NOT_FINITE.
            let bits = (u32::BITS - sizes.leading_zeros()) as i32;
            Exponent::saturating(exponent_for(bits + i32::from(result_exponent) + HEADROOM_BITS, workers))
        }
    }
}

/// Some value is too large for the exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DoesNotFit;

/// Whether values, which were quantised to these, are not all zeros but so small that a sum of zero says
/// nothing about them.
pub fn have_vanished(values: &[f32], quantised: &[i32]) -> bool {
    quantised.iter().all(|value| value.unsigned_abs() >> VANISHING_BITS == 0)
        && values.iter().any(|value| *value != 0.0)
}

/// Writes `round(value · 2^-exponent)` for finite values. If one does not fit, `quantised` holds nothing
/// useful.
///
/// # Errors
/// [`DoesNotFit`] for a value that needs more than 32 bits at this exponent.
pub fn quantise(values: &[f32], exponent: Exponent, quantised: &mut [i32]) -> Result<(), DoesNotFit> {
    // Adding 1.5 · 2^52 rounds anything below 2^51 half to even, and the low bits are the integer, in two's
    // complement. So compilers turn the loop into vector instructions, as they do not with a cast.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let scale = power_of_two(-i32::from(exponent));
    let mut largest = 0;
    for (value, quantised) in values.iter().zip(quantised) {
        largest = largest.max(size_bits(*value));
        // Exact but for the rounding: an f32 times a power of two in this range is an f64.
        *quantised = (f64::from(*value) * scale + ROUND).to_bits() as i32;
    }
    // Beyond this, scaled values round to more than int32 holds.
    if f64::from(f32::from_bits(largest as u32)) * scale < 2_147_483_647.5 { Ok(()) } else { Err(DoesNotFit) }
}

/// The bits of a float without its sign: in the order of sizes, infinity and NaN above all numbers.
fn size_bits(value: f32) -> i32 {
    (value.to_bits() & (u32::MAX >> 1)) as i32
}

/// The least exponent at which all values fit; [`NOT_FINITE`](Exponent::NOT_FINITE) if one is a NaN or an
/// infinity.
pub fn least_exponent(values: &[f32]) -> Exponent {
    let largest = values.iter().fold(0, |largest, value| size_bits(*value).max(largest));
    let largest = f32::from_bits(largest as u32);
    let fits = |exponent: i32| f64::from(largest) * power_of_two(-exponent) < 2_147_483_647.5;
    let exponent = (i32::from(Exponent::MIN)..i32::from(Exponent::MAX)).find(|exponent| fits(*exponent));
    exponent.map_or(Exponent::NOT_FINITE, Exponent::saturating)
}

/// Index of the first NaN or infinity.
pub fn first_not_finite(values: &[f32]) -> Option<usize> {
    const BLOCK: usize = 256;
    let infinity = size_bits(f32::INFINITY);
    let mut blocks = values.chunks(BLOCK);
    // A whole block at a time in vector instructions; then the place in it.
    let block = blocks
        .position(|block| block.iter().fold(0, |most, value| size_bits(*value).max(most)) >= infinity)?;
    let place = values[block * BLOCK..].iter().position(|value| !value.is_finite())?;
    Some(block * BLOCK + place)
}

/// The float a quantised value stands for, rounded to nearest.
#[inline]
pub fn dequantise(value: i32, exponent: Exponent) -> f32 {
    (f64::from(value) * power_of_two(exponent.into())) as f32
}

/// Writes the floats that quantised values stand for, each rounded to nearest; NaN if the exponent is
/// [`NOT_FINITE`](Exponent::NOT_FINITE).
pub fn dequantise_all(values: &[i32], exponent: Exponent, floats: &mut [f32]) {
    if exponent == Exponent::NOT_FINITE {
        return floats.fill(f32::NAN);
    }
    for (float, value) in floats.iter_mut().zip(values) {
        *float = dequantise(*value, exponent);
    }
}

/// Rescales exact sums in place so that each fits int32: divided by the least power of two that does, rounded
/// half to even. Returns the exponent they have then.
pub fn fit_sums(sums: &mut [i64], exponent: Exponent) -> Exponent {
    // A number fits int32 if, without its sign, it has 31 bits. Mostly all do.
    if sums.iter().fold(0, |bits, sum| bits | sum ^ (sum >> 63)) >> 31 == 0 {
        return exponent;
    }
    let fits = |shift: u32| sums.iter().all(|sum| i32::try_from(shift_half_to_even(*sum, shift)).is_ok());
    let shift = (0..63).find(|shift| fits(*shift)).unwrap_or(63);
    for sum in &mut *sums {
        *sum = shift_half_to_even(*sum, shift);
    }
    Exponent::saturating(i32::from(exponent) + shift as i32)
}

/// `value / 2^shift`, rounded half to even; `shift` is at most 63.
fn shift_half_to_even(value: i64, shift: u32) -> i64 {
    let quotient = value >> shift;
    let rest = value - (quotient << shift);
    let twice_rest_over_divisor = (i128::from(rest) << 1).cmp(&(1 << shift));
    quotient
        + i64::from(twice_rest_over_divisor.is_gt() || twice_rest_over_divisor.is_eq() && quotient & 1 == 1)
}

#[cfg(test)]
#[path = "quantise_tests.rs"]
mod tests;
