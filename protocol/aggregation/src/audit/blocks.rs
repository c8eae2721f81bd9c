//! Expected sum of a block: every value is a whole multiple of a power of two that follows from the largest
//! value. Integer arithmetic except for the last step.

use alloc::vec::Vec;

use super::digits::{parts, power_of_two};

/// Returns the sums of a block's values over all tensors, in a job of `workers` workers.
pub(super) fn sum(parts_of: &[&[f32]], workers: usize) -> Vec<f32> {
    let len = parts_of.first().map_or(0, |first| first.len());
    if parts_of.iter().any(|part| part.iter().any(|value| !value.is_finite())) {
        return alloc::vec![f32::NAN; len];
    }
    let step = step(parts_of, workers);
    let total = |index: usize| parts_of.iter().map(|part| multiple(part[index], step)).sum::<i64>();
    // An i64 below 2^53, times a power of two: exact in an f64.
    (0..len).map(|index| (total(index) as f64 * power_of_two(step)) as f32).collect()
}

/// Values are rounded to multiples of 2 to this: 2^31 of them, over all workers, are more than any sum.
fn step(parts_of: &[&[f32]], workers: usize) -> i32 {
    let size = |value: &f32| f64::from(if *value < 0.0 { -*value } else { *value });
    let values = parts_of.iter().flat_map(|part| part.iter());
    let largest = values.map(size).fold(0.0, |one: f64, other| if other > one { other } else { one });
    let mut above = -124;
    while power_of_two(above) <= largest {
        above += 1;
    }
    let mut sums = 0;
    while 1usize << sums < workers || workers > 128 && 1usize << sums == workers {
        sums += 1;
    }
    (above + sums - 31).max(-149)
}

/// Returns `value` as a multiple of 2^step, rounded half to even.
fn multiple(value: f32, step: i32) -> i64 {
    let (mantissa, place) = parts(value);
    match u32::try_from(step - (place as i32 - 149)) {
        Err(_) => mantissa << (place as i32 - 149 - step),
        Ok(shift) if shift > 40 => 0,
        Ok(shift) => round_half_even(mantissa, shift),
    }
}

/// `value / 2^shift`, to the nearest integer, to the even one of two equally near.
fn round_half_even(value: i64, shift: u32) -> i64 {
    if shift == 0 {
        return value;
    }
    let floor = value >> shift;
    let rest = value - (floor << shift);
    let half = 1i64 << (shift - 1);
    floor + i64::from(rest > half || (rest == half && floor & 1 == 1))
}
