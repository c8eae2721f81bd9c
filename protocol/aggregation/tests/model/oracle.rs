//! Expected sums by the rules of docs/protocol/numbers.md, in arbitrary-precision integers: from the floats
//! alone, without code under test.

use num_bigint::{BigInt, BigUint, Sign};

/// A block's values, and the most values that any tensor's sums are exact for.
const BLOCK: usize = 256;

/// A finite float as a multiple of 2^-149, from its bits.
pub fn units(value: f32) -> BigInt {
    let bits = value.to_bits();
    let (fraction, biased) = (bits & 0x7f_ffff, bits >> 23 & 0xff);
    let size = match biased {
        0 => BigInt::from(fraction),
        _ => BigInt::from(fraction | 1 << 23) << (biased - 1),
    };
    if value.is_sign_negative() { -size } else { size }
}

/// The float nearest to that many times 2^-149, found by halving: no float is nearer, and of two the even one
/// is taken.
pub fn nearest(sum: &BigInt) -> f32 {
    const INFINITY: u32 = 0x7f80_0000;
    let size = sum.magnitude();
    let of_bits = |bits: u32| match bits {
        // The next power after the largest float.
        INFINITY => BigUint::from(1u32) << (128 + 149),
        _ => units(f32::from_bits(bits)).into_parts().1,
    };
    let (mut low, mut high) = (0, INFINITY);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if of_bits(middle) <= *size { low = middle } else { high = middle }
    }
    let (twice, between) = (size * 2u32, of_bits(low) + of_bits(high));
    let bits = if twice > between || twice == between && low % 2 == 1 { high } else { low };
    f32::from_bits(bits) * if sum.sign() == Sign::Minus { -1.0 } else { 1.0 }
}

/// W · 2^(e-1) of a block, in units of 2^-149, from the largest size in it and the number of workers.
fn bound(largest: f32, workers: usize) -> BigInt {
    let biased = (largest.to_bits() >> 23).max(2) as i32;
    let carries = match workers {
        // Of 129 workers and more, integers may have been rounded up to a power of two.
        129.. => workers.ilog2() + 1,
        _ => workers.next_power_of_two().ilog2(),
    };
    let step = biased - 157 + carries as i32;
    // Every float is a multiple of 2^-149: nothing is rounded.
    usize::try_from(step - 1 + 149).map_or(BigInt::ZERO, |shift| BigInt::from(workers) << shift)
}

/// Panics unless these are sums of the workers' tensors: the nearest float to the exact sum, if all sums of
/// the job are exact or the tensor is short; else a float within the bound.
pub fn check(tensors: &[Vec<f32>], sums: &[f32], exact: bool) {
    let exact = exact || sums.len() <= BLOCK;
    for (block, sums) in sums.chunks(BLOCK).enumerate() {
        let of_block: Vec<_> =
            tensors.iter().map(|tensor| &tensor[block * BLOCK..block * BLOCK + sums.len()]).collect();
        match exact {
            true => check_exact(&of_block, sums),
            false => check_scaled(&of_block, sums),
        }
    }
}

fn check_exact(tensors: &[&[f32]], sums: &[f32]) {
    for (index, seen) in sums.iter().enumerate() {
        let values = tensors.iter().map(|tensor| tensor[index]);
        let has = |float: f32| values.clone().any(|value| value == float);
        let right = match (has(f32::INFINITY), has(f32::NEG_INFINITY)) {
            _ if values.clone().any(f32::is_nan) => f32::NAN,
            (true, true) => f32::NAN,
            (true, false) => f32::INFINITY,
            (false, true) => f32::NEG_INFINITY,
            (false, false) => nearest(&values.map(units).sum()),
        };
        let same = seen.to_bits() == right.to_bits() || seen.is_nan() && right.is_nan();
        assert!(same, "value {index}: {seen:e} instead of {right:e}");
    }
}

fn check_scaled(tensors: &[&[f32]], sums: &[f32]) {
    let values = || tensors.iter().flat_map(|tensor| tensor.iter());
    if values().any(|value| !value.is_finite()) {
        return assert!(sums.iter().all(|sum| sum.is_nan()), "a block that is not finite: {sums:?}");
    }
    let largest = values().fold(0.0, |largest: f32, value| largest.max(value.abs()));
    let bound = bound(largest, tensors.len());
    for (index, seen) in sums.iter().enumerate() {
        let right: BigInt = tensors.iter().map(|tensor| units(tensor[index])).sum();
        let [least, most] = [nearest(&(&right - &bound)), nearest(&(&right + &bound))];
        assert!(least <= *seen && *seen <= most, "value {index}: {seen:e}, from {least:e} to {most:e}");
        assert!(*seen != 0.0 || seen.is_sign_positive(), "value {index}: zeros have no sign");
    }
}

#[test]
fn it_rounds_as_hardware_does() {
    let least = f32::from_bits(1);
    for (a, b) in [
        (1.0, f32::EPSILON / 2.0),
        (1.0 + f32::EPSILON, f32::EPSILON / 2.0),
        (1.5, -3e-8),
        (f32::MAX, 2f32.powi(103)),
        (f32::MAX, 2f32.powi(102)),
        (least, 2.0 * least),
        (-1.0, 1.0),
    ] {
        assert_eq!(nearest(&(units(a) + units(b))).to_bits(), (a + b).to_bits(), "{a} + {b}");
    }
}

#[test]
fn bounds_are_as_stated() {
    // M is 127 of 1.0: e is 127 - 157 + 2 of three workers.
    assert_eq!(bound(1.0, 3), BigInt::from(3) << (127 - 157 + 2 - 1 + 149));
    assert_eq!(bound(1.99, 4), BigInt::from(4) << (127 - 157 + 2 - 1 + 149));
    assert_eq!(bound(1.0, 128), BigInt::from(128) << (127 - 157 + 7 - 1 + 149));
    assert_eq!(bound(1.0, 129), BigInt::from(129) << (127 - 157 + 8 - 1 + 149));
    assert_eq!(bound(2f32.powi(-120), 2), BigInt::ZERO);
}
