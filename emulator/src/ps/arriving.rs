//! Values as they arrive at the other side, by docs/protocol/ps.md (U11), in the arithmetic of `f64`. Shares
//! nothing with the processes.

use inart_ps_agent::Precision;

/// Largest finite float16.
const LARGEST: f64 = 65504.0;
/// Bits of a float16 behind the first one, and the exponent of its least normal value.
const BITS: i32 = 10;
const LEAST: f64 = -14.0;

/// Returns the values as they arrive, in chunks of `chunk_values`.
pub fn arriving(values: &[f32], chunk_values: usize, precision: Precision) -> Vec<f32> {
    match precision {
        Precision::Single => values.to_vec(),
        Precision::Half => values.chunks(chunk_values).flat_map(arriving_chunk).collect(),
    }
}

/// A chunk with a finite value that float16 does not reach travels as it is.
fn arriving_chunk(values: &[f32]) -> Vec<f32> {
    let rounded: Vec<f64> = values.iter().map(|value| nearest((*value).into())).collect();
    match rounded.iter().all(|value| !value.is_finite() || value.abs() <= LARGEST) {
        true => rounded.into_iter().map(|value| value as f32).collect(),
        false => values.to_vec(),
    }
}

/// The nearest float16 if exponents had no upper limit; of two, the one whose last bit is 0.
fn nearest(value: f64) -> f64 {
    let exponent = value.abs().log2().floor().max(LEAST);
    let last_bit = 2f64.powi(exponent as i32 - BITS);
    if value.is_finite() { (value / last_bit).round_ties_even() * last_bit } else { value }
}

#[cfg(test)]
mod tests {
    use inart_ps_agent::as_received;

    use super::*;

    fn half(values: &[f32]) -> Vec<f32> {
        arriving(values, 2, Precision::Half)
    }

    #[test]
    fn by_hand() {
        assert_eq!(half(&[2049.0, 2051.0, 0.1, -65504.0]), [2048.0, 2052.0, 0.099_975_586, -65504.0]);
        // The least float16 is 2^-24: half of it is 0, and a little more is not.
        let least = 2f32.powi(-24);
        assert_eq!(half(&[least / 2.0, 0.51 * least, -1.5 * least, 0.0]), [0.0, least, -2.0 * least, 0.0]);
        // 65519 is nearer to the largest one; 65520 is not reached, nor is what travels with it rounded.
        assert_eq!(half(&[65519.0, 0.1, 65520.0, 0.1]), [65504.0, 0.099_975_586, 65520.0, 0.1]);
        assert_eq!(arriving(&[0.1], 2, Precision::Single), [0.1]);
    }

    #[test]
    fn processes_agree() {
        // All exponents, and fractions around the middle of two float16.
        let mut values = Vec::new();
        for exponent in 0..255u32 {
            for fraction in
                [0, 1, 0xfff, 0x1000, 0x1001, 0x2fff, 0x3000, 0x3001, 0x7f_efff, 0x7f_f000, 0x7f_ffff]
            {
                values.extend([0, 1 << 31].map(|sign| f32::from_bits(sign | exponent << 23 | fraction)));
            }
        }
        for chunk_values in [1, 3, 22] {
            let bits = |values: Vec<f32>| values.into_iter().map(f32::to_bits).collect::<Vec<_>>();
            let ours = arriving(&values, chunk_values, Precision::Half);
            assert_eq!(bits(ours), bits(as_received(&values, chunk_values, Precision::Half)));
        }
    }
}
