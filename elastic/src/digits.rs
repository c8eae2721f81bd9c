//! Floats as small whole numbers, whose sums are exact: the bits of each, cut into digits.
//!
//! A job's sums are those of values rounded to multiples of 2^e (`inart_core::quantise`), and whole numbers
//! are multiples of 2^e if e is not above 0. Values below 2^8 fit the exponent of a first round, so digits of
//! 8 bits do, and switches sum them; larger ones would go by bypass. After a sum of numbers below 2^b, e is
//! at most b + ⌈log2 W⌉ - 23 for W workers: with very many workers digits have 4 bits. After larger sums (of
//! gradients) e may be above 0. Then whoever looks at the exponents of the result sees it, the same at every
//! worker, and the digits are summed once more.

use inart_core::RoundRecord;
use inart_wire::Exponent;

/// How floats are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digits {
    bits: u32,
}

impl Digits {
    /// For so many workers.
    pub fn for_workers(workers: usize) -> Self {
        let log = usize::BITS - workers.saturating_sub(1).leading_zeros();
        Self { bits: if 8 + log <= 22 { 8 } else { 4 } }
    }

    /// How many digits a float has.
    pub fn per_float(self) -> usize {
        (32 / self.bits) as usize
    }

    /// All first digits, then all second ones, and so on: the lowest first.
    pub fn write(self, floats: &[f32]) -> Vec<f32> {
        let mask = (1 << self.bits) - 1;
        let digit = |place: u32| move |float: &f32| (float.to_bits() >> (place * self.bits) & mask) as f32;
        (0..32 / self.bits).flat_map(|place| floats.iter().map(digit(place))).collect()
    }

    /// The floats of these digits.
    pub fn read(self, digits: &[f32], floats: &mut [f32]) {
        let len = floats.len();
        for (index, float) in floats.iter_mut().enumerate() {
            let places = (0..32 / self.bits).zip(digits[index..].iter().step_by(len.max(1)));
            let bits = places.fold(0, |bits, (place, digit)| bits | (*digit as u32) << (place * self.bits));
            *float = f32::from_bits(bits);
        }
    }
}

/// Whether whole numbers were not rounded in that sum.
pub fn is_exact(record: &RoundRecord) -> bool {
    // Floats as they are, in an exact-sum job, have an exponent below 0, too.
    record.exponents.iter().chain(&record.result_exponents).all(|exponent| *exponent <= Exponent::from(0))
}

#[cfg(test)]
mod tests {
    use inart_core::quantise::{
        dequantise_all, first_exponent, fit_sums, least_exponent, next_exponent, quantise,
    };

    use super::*;

    /// Every kind of float: signs of zero, of infinity and of NaN, subnormal numbers, and NaN's payload.
    fn floats() -> Vec<f32> {
        let bits =
            [0, 0x8000_0000, 0x7f80_0000, 0xff80_0000, 0x7fc0_0001, 0xffff_ffff, 1, 0x807f_ffff, 0x7f7f_ffff];
        let spread = (0..4096u32).map(|index| index.wrapping_mul(0x9e37_79b1));
        bits.into_iter().chain(spread).map(f32::from_bits).collect()
    }

    fn bits(floats: &[f32]) -> Vec<u32> {
        floats.iter().map(|float| float.to_bits()).collect()
    }

    #[test]
    fn digits_give_back_every_bit() {
        for workers in [1, 2, 64, 65, 16384, 16385, 65536] {
            let digits = Digits::for_workers(workers);
            let written = digits.write(&floats());
            assert_eq!(written.len(), digits.per_float() * floats().len());
            let mut read = vec![0.0; floats().len()];
            digits.read(&written, &mut read);
            assert_eq!(bits(&read), bits(&floats()), "{workers} workers");
        }
    }

    /// As workers and servers do it: one worker has digits, all others zeros, after a sum of largest
    /// `before`.
    fn summed(
        workers: usize,
        digits: &[f32],
        before: i32,
        before_exponent: Exponent,
    ) -> (Vec<f32>, Exponent) {
        let agreed = next_exponent(workers, &[before], before_exponent, false);
        let mut sent = vec![0; digits.len()];
        let exponent = match quantise(digits, agreed, &mut sent) {
            Ok(()) => agreed,
            Err(_) => {
                let least = least_exponent(digits);
                quantise(digits, least, &mut sent).expect("it fits the least");
                least
            }
        };
        let mut sums: Vec<_> = sent.iter().map(|value| i64::from(*value)).collect();
        let result_exponent = fit_sums(&mut sums, exponent);
        let sums: Vec<_> = sums.into_iter().map(|sum| i32::try_from(sum).expect("it fits")).collect();
        let mut floats = vec![0.0; sums.len()];
        dequantise_all(&sums, result_exponent, &mut floats);
        (floats, exponent.max(result_exponent))
    }

    #[test]
    fn a_sum_after_one_of_digits_is_exact_for_any_number_of_workers() {
        for workers in [1, 2, 3, 64, 65, 128, 16384, 16385, 65536] {
            let digits = Digits::for_workers(workers);
            let largest = (1 << digits.bits) - 1;
            let written = digits.write(&floats());
            for before in [1, largest] {
                let (sum, exponent) = summed(workers, &written, before, Exponent::from(0));
                assert!(exponent <= Exponent::from(0), "{workers} workers after {before}: {exponent}");
                assert_eq!(sum, written);
            }
        }
    }

    #[test]
    fn digits_fit_the_first_exponent_and_no_bypass_is_needed() {
        for workers in [1, 2, 6, 64, 1000, 65536] {
            let digits = Digits::for_workers(workers).write(&floats());
            let mut sent = vec![0; digits.len()];
            assert_eq!(quantise(&digits, first_exponent(workers), &mut sent), Ok(()), "{workers} workers");
            let mut back = vec![0.0; sent.len()];
            dequantise_all(&sent, first_exponent(workers), &mut back);
            assert_eq!(back, digits);
        }
    }

    #[test]
    fn a_sum_after_large_ones_is_seen_to_be_rounded() {
        let digits = Digits::for_workers(2);
        let written = digits.write(&floats());
        let (sum, exponent) = summed(2, &written, i32::MAX, Exponent::from(0));
        assert!(exponent > Exponent::from(0));
        assert_ne!(sum, written, "it was rounded, so the exponents have to be looked at");
    }
}
