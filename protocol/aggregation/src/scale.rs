//! Floats as integers, by the sizes of their blocks, and back.
//!
//! A tensor is cut into blocks of [`BLOCK_VALUES`] from its start. Let m be the size of the largest value of
//! a block at any worker, M its biased exponent (bits 23 to 30 of the float), at least 2, and w the
//! [bits](carry_bits) that sums of W workers take. All workers scale the block by 2^-e, with
//!
//! ```text
//! e = max(M - 157 + w, -149)
//! ```
//!
//! A value is sent as `round(v · 2^-e)`, half to even, an int32. Magnitudes are below 2^(M - 126), so no sum
//! of W such integers leaves int32, and it is exact in any order. The result is that sum, times 2^e, rounded
//! to the nearest float. So the bits of a sum are a function only of the workers' values and of the number of
//! workers.
//!
//! **Error bound.** Each of W roundings errs by at most 2^(e - 1). So a sum, before it is read as a float,
//! differs from the exact sum of the workers' floats by at most
//!
//! ```text
//! W · 2^(e - 1)  <=  W · 2^(w - 31) · m
//! ```
//!
//! for m from 2^-125 on, or by nothing where e is -149, since all floats are multiples of that. In terms of
//! the least power of two above m the bound is W · 2^(w - 32). Reading it as a float adds half of that
//! float's last bit.
//!
//! **Not finite.** A block in which some worker has a NaN or an infinity has the sum NaN in all of its
//! values. **Zero** is exact, and +0: so is the sum of negative zeros.
//!
//! An [exponent](Exponent) in a frame is M - 128, and all workers know M: its result arrived earlier
//! (`docs/protocol/numbers.md`).

use inart_wire::Exponent;

/// Values of a block: the same for all jobs, plans, frames and switches.
pub const BLOCK_VALUES: usize = 256;

/// Bits of a float after the first.
const FRACTION_BITS: u32 = f32::MANTISSA_DIGITS - 1;
/// All floats are multiples of 2 to this.
const LEAST_STEP: i32 = -149;

/// 2^power, exactly; `power` is at most a few hundred.
fn power_of_two(power: i32) -> f64 {
    f64::from_bits(((1023 + power) as u64) << 52)
}

/// Bits by which a sum of `workers` integers may be longer than they are: ⌈log2 W⌉. Of more than 128 workers
/// ⌊log2 W⌋ + 1, since their largest integers may have been rounded up to a power of two.
pub fn carry_bits(workers: usize) -> u32 {
    let below = if workers <= 128 { workers.saturating_sub(1) } else { workers };
    usize::BITS - below.leading_zeros()
}

/// The largest integer that one of `workers` workers may add to a sum.
pub fn largest_addend(workers: usize) -> i32 {
    (i32::MAX as usize / workers.max(1)) as i32
}

/// The size of the largest of `values`, as the bits of a float. Infinity is above all numbers, and a NaN is
/// as large: so no size is a limit of a switch's registers.
pub fn largest_size(values: &[f32]) -> i32 {
    let largest = values.iter().fold(0, |largest, value| size_bits(*value).max(largest));
    largest.min(f32::INFINITY.to_bits() as i32)
}

fn size_bits(value: f32) -> i32 {
    (value.to_bits() & (u32::MAX >> 1)) as i32
}

/// Returns the exponent of a block, given its [largest size](largest_size) at any worker; `None` if that is
/// not finite.
pub fn exponent_of(largest: i32) -> Option<Exponent> {
    let biased = largest >> FRACTION_BITS;
    (biased < 255).then(|| Exponent::saturating(biased - 128))
}

/// Returns e, where 2^e is the unit of the integers of a block of `workers` workers.
pub fn step(exponent: Exponent, workers: usize) -> i32 {
    (i32::from(exponent) - 29 + carry_bits(workers) as i32).max(LEAST_STEP)
}

/// Appends `round(value · 2^-step)` for finite values.
pub fn quantize(values: &[f32], step: i32, quantized: &mut impl Extend<i32>) {
    // Adding 1.5 · 2^52 rounds anything below 2^51 half to even, and the low bits are the integer, in two's
    // complement. Compilers vectorize this loop, but not one with a cast.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let scale = power_of_two(-step);
    // Exact but for the rounding: an f32 times a power of two in this range is an f64.
    quantized.extend(values.iter().map(|value| (f64::from(*value) * scale + ROUND).to_bits() as i32));
}

/// Returns the float of an integer, rounded to nearest.
#[inline]
pub fn dequantize(value: i32, step: i32) -> f32 {
    (f64::from(value) * power_of_two(step)) as f32
}

/// Writes the floats of integers, as by [`dequantize`].
pub fn dequantize_all(values: impl Iterator<Item = i32>, step: i32, floats: &mut [f32]) {
    // Rounded to a float first, an integer times a power of two is exact unless it is below the least normal
    // float. This takes half as many instructions as a conversion through f64.
    match u32::try_from(127 + step) {
        Ok(biased @ 1..255) => {
            let scale = f32::from_bits(biased << FRACTION_BITS);
            floats.iter_mut().zip(values).for_each(|(float, value)| *float = value as f32 * scale);
        }
        _ => floats.iter_mut().zip(values).for_each(|(float, value)| *float = dequantize(value, step)),
    }
}

/// Index of the first NaN or infinity.
pub fn first_not_finite(values: &[f32]) -> Option<usize> {
    let infinity = size_bits(f32::INFINITY);
    // Finds the block with vector instructions, then the index in it.
    let block = values.chunks(BLOCK_VALUES).position(|block| largest_size(block) >= infinity)?;
    let place = values[block * BLOCK_VALUES..].iter().position(|value| !value.is_finite())?;
    Some(block * BLOCK_VALUES + place)
}

#[cfg(test)]
#[path = "scale_tests.rs"]
mod tests;
