//! The error that `docs/protocol/numbers.md` states, against the exact sums of the floats.

use inart_protocol_aggregation::exact_sum::EXACT_VALUES;

/// Values of a block.
const BLOCK: usize = 256;
/// Relative slack for rounding errors of an error bound computed in `f64`.
const SLACK: f64 = 1.0 + 1e-9;
/// Smallest magnitude that rounds to an infinity.
const OVERFLOW: f64 = f32::MAX as f64 + HALF_OF_LARGEST;
/// Half of the last bit of the largest float: 2^103.
const HALF_OF_LARGEST: f64 = (1u128 << 103) as f64;

/// Checks the sums of one tensor, of which these are all workers' values.
///
/// # Errors
/// Which value is off, and by how much.
pub(crate) fn check(tensors: &[&[f32]], sums: &[f32], exact: bool) -> Result<(), String> {
    let exact = exact || sums.len() <= EXACT_VALUES;
    for (block, sums) in sums.chunks(BLOCK).enumerate() {
        let start = block * BLOCK;
        let values = tensors.iter().flat_map(|tensor| &tensor[start..start + sums.len()]);
        if values.clone().any(|value| !value.is_finite()) {
            check_not_finite(tensors, start, sums, exact)?;
            continue;
        }
        let largest = values.fold(0.0, |largest: f32, value| largest.max(value.abs()));
        let bound = if exact { 0.0 } else { rounding(largest, tensors.len()) };
        for (index, sum) in (start..).zip(sums) {
            let of_value = tensors.iter().map(|tensor| tensor[index]);
            let is_beyond = sum.is_infinite()
                && f64::from(sum.signum()) * difference(0.0, of_value.clone()) + bound >= OVERFLOW;
            let (off, allowed) = (difference(*sum, of_value).abs(), (bound + half_of_last_bit(*sum)) * SLACK);
            // A NaN is within no bound.
            let is_within = off <= allowed;
            if !is_beyond && !is_within {
                return Err(format!("value {index}: {sum:e} is off by {off:e}; it may be by {allowed:e}"));
            }
        }
    }
    Ok(())
}

/// Checks the sums of a block that has a NaN or an infinity. All sums of the block are NaN; where sums are
/// exact, each is that of IEEE 754.
fn check_not_finite(tensors: &[&[f32]], start: usize, sums: &[f32], exact: bool) -> Result<(), String> {
    for (index, sum) in (start..).zip(sums) {
        let of_value = || tensors.iter().map(|tensor| tensor[index]);
        let is_right = match exact {
            false => sum.is_nan(),
            true if of_value().all(f32::is_finite) => {
                difference(*sum, of_value()).abs() <= half_of_last_bit(*sum) * SLACK || sum.is_infinite()
            }
            true => {
                let right = of_value().filter(|value| !value.is_finite()).fold(0.0, |sum, value| sum + value);
                *sum == right || sum.is_nan() && right.is_nan()
            }
        };
        if !is_right {
            return Err(format!("value {index}: {sum:e} for values with a NaN or an infinity"));
        }
    }
    Ok(())
}

/// Half a quantization step per worker; zero at the smallest possible step.
fn rounding(largest: f32, workers: usize) -> f64 {
    // The least power of two above it, from that of the least block on.
    let above = (-124..).find(|power| 2f64.powi(*power) > largest.into()).unwrap_or_default();
    let carries =
        (workers as f64).log2().ceil() as i32 + i32::from(workers > 128 && workers.is_power_of_two());
    let step = above - 31 + carries;
    if step <= -149 { 0.0 } else { workers as f64 * 2f64.powi(step - 1) }
}

/// Largest rounding error of a value read as this float.
fn half_of_last_bit(float: f32) -> f64 {
    let next = f64::from(float.abs().next_up());
    (next - f64::from(float.abs())) / 2.0
}

/// Returns the sum of `floats` minus `float`: the exact difference, rounded once or twice. The sum is held as
/// an expansion of numbers that do not overlap (J. R. Shewchuk, "Adaptive precision floating-point arithmetic
/// and fast robust geometric predicates", 1997).
fn difference(float: f32, floats: impl Iterator<Item = f32>) -> f64 {
    let mut parts = vec![-f64::from(float)];
    for value in floats {
        let mut carried = f64::from(value);
        for part in &mut parts {
            let sum = *part + carried;
            let added = sum - *part;
            *part = (*part - (sum - added)) + (carried - added);
            carried = sum;
        }
        parts.retain(|part| *part != 0.0);
        parts.push(carried);
    }
    parts.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_exact() {
        assert_eq!(difference(1.0, [1e30, 1.0, -1e30].into_iter()), 0.0);
        assert_eq!(difference(0.0, [1e30, 1e-30, -1e30].into_iter()), f64::from(1e-30f32));
        assert_eq!(difference(3.0, [].into_iter()), -3.0);
    }

    /// Two workers: the largest value is below 2^1, so a step is 2^-29.
    #[test]
    fn a_sum_may_be_off_by_a_step_and_by_half_of_its_last_bit() {
        let one: Vec<f32> = vec![1.5; 300];
        let tensors = [&one[..], &vec![-1.5 + 2f32.powi(-23); 300]];
        let sums = |off: f32| vec![2f32.powi(-23) + off; 300];
        assert_eq!(check(&tensors, &sums(2f32.powi(-29)), false), Ok(()));
        let expected_start = "value 0: 1.2293458e-7 is off by 3.725290298461914e-9; it may be by ";
        let problem = check(&tensors, &sums(2f32.powi(-28)), false).expect_err("two steps");
        assert!(problem.starts_with(expected_start), "{problem}");
        assert!(check(&tensors, &sums(2f32.powi(-29)), true).is_err(), "not exact");
        assert_eq!(check(&tensors, &sums(0.0), true), Ok(()));
        assert!(check(&tensors, &vec![f32::NAN; 300], false).is_err());
    }

    #[test]
    fn an_infinity_is_right_only_for_sums_beyond_all_floats() {
        let infinite = [f32::INFINITY; 2];
        assert_eq!(check(&[&[f32::MAX; 2], &[f32::MAX; 2]], &infinite, false), Ok(()));
        assert!(check(&[&[f32::MAX; 2], &[1.0; 2]], &infinite, false).is_err());
        assert!(check(&[&[f32::MIN; 2], &[f32::MIN; 2]], &infinite, false).is_err(), "of the other sign");
        assert_eq!(check(&[&[f32::MIN; 2], &[f32::MIN; 2]], &infinite.map(|value| -value), false), Ok(()));
    }
}
