//! Floats as small integers with exact sums: the bits of each, cut into digits of 8 bits.
//!
//! One worker has the digits and all others zeros. A block of integers below 2^8 is summed in steps of at
//! most 1 (`inart_protocol_aggregation::scale`), for any number of workers, so nothing is rounded.

/// Digits of a float.
pub const PER_FLOAT: usize = 4;

/// Appends all first digits, then all second ones, and so on: the lowest first.
pub fn write(floats: &[f32], digits: &mut Vec<f32>) {
    let digit = |place: usize| move |float: &f32| f32::from(float.to_bits().to_le_bytes()[place]);
    digits.extend((0..PER_FLOAT).flat_map(|place| floats.iter().map(digit(place))));
}

/// The floats of these digits.
pub fn read(digits: &[f32], floats: &mut [f32]) {
    let len = floats.len();
    for (index, float) in floats.iter_mut().enumerate() {
        *float = f32::from_le_bytes(std::array::from_fn(|place| digits[place * len + index] as u8));
    }
}

#[cfg(test)]
mod tests {
    use inart_protocol_aggregation::audit::sum_of;
    use inart_protocol_aggregation::scale::{exponent_of, largest_size, step};
    use inart_wire::Rank;

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
    fn digits_are_multiples_of_the_step_for_any_number_of_workers() {
        for workers in 1..=Rank::MAX.index() + 1 {
            for digit in 0..=u8::MAX {
                let exponent = exponent_of(largest_size(&[digit.into()])).expect("a digit is finite");
                assert!(step(exponent, workers) <= 0, "{digit} in sums of {workers} workers");
            }
        }
    }

    #[test]
    fn sums_of_digits_give_back_every_bit() {
        let mut written = Vec::new();
        write(&floats(), &mut written);
        assert_eq!(written.len(), PER_FLOAT * floats().len());
        for workers in [1, 2, 64, 129, Rank::MAX.index() + 1] {
            let zeros = vec![0.0; written.len()];
            let sum = sum_of(&[&zeros, &written], workers, false);
            let mut read = vec![0.0; floats().len()];
            super::read(&sum, &mut read);
            assert_eq!(bits(&read), bits(&floats()), "{workers} workers");
        }
    }
}
