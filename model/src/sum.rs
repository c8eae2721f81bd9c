//! Values that show who is in a sum, and how often.

use crate::config::{MAX_CHUNKS, MAX_EXPONENT, MAX_WORKERS};

/// The values of one frame: a digit of two bits for everything that a worker can put into a sum, so that who
/// was counted, for which chunk, at which exponent and how often can be read off any sum. Three stands for
/// three times or more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sum(u128);

/// The generation of what does not belong to the run of the server's first or second life; that of what does
/// is its exponent, or one of the next.
pub const BEFORE: u8 = MAX_EXPONENT + 1;
/// That of a restarted worker's values: another process's are others.
pub const SECOND_LIFE: u8 = 1;
/// That of values in the run of a restarted server.
pub const SECOND_RUN: u8 = 2;
/// That of values of the next tensor.
pub const NEXT_TENSOR: u8 = 1;

/// Digits of a [`Sum`].
pub const DIGITS: u32 = (MAX_EXPONENT as u32 + 2) * MAX_CHUNKS as u32 * MAX_WORKERS as u32;

const SATURATED: u128 = 1 << 127;
const LOW_BITS: u128 = (u128::MAX / 3) & !(3 << 126);

impl Sum {
    /// What `worker` sends for the chunk `sequence`, if that is its `generation`.
    pub fn term(generation: u8, sequence: u8, worker: u8) -> Self {
        Self::of_digit(digit(generation, sequence, worker), 1)
    }

    /// A sum with `count` (at most 3) in one digit.
    pub fn of_digit(digit: u32, count: u8) -> Self {
        Self(u128::from(count) << (2 * digit))
    }

    /// The digit of that number.
    pub fn digit(self, digit: u32) -> u8 {
        (self.0 >> (2 * digit) & 3) as u8
    }

    /// Whether the values were cut off on the way, so that they are nobody's sum.
    pub fn is_saturated(self) -> bool {
        self.0 & SATURATED != 0
    }

    /// The same, cut off if `condition` holds.
    #[must_use]
    pub fn saturated_if(self, condition: bool) -> Self {
        if condition { Self(self.0 | SATURATED) } else { self }
    }
}

/// The number of the digit that `worker` sends for the chunk `sequence`.
pub(crate) fn digit(generation: u8, sequence: u8, worker: u8) -> u32 {
    (u32::from(generation) * u32::from(MAX_CHUNKS) + u32::from(sequence)) * u32::from(MAX_WORKERS)
        + u32::from(worker)
}

impl std::ops::Add for Sum {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let cut = (self.0 | other.0) & SATURATED;
        let (low, low_other) = (self.0 & LOW_BITS, other.0 & LOW_BITS);
        let (high, high_other) = (self.0 >> 1 & LOW_BITS, other.0 >> 1 & LOW_BITS);
        let carry = low & low_other;
        // Full adders side by side; what goes beyond 3 stays at 3.
        let beyond = high & high_other | high & carry | high_other & carry;
        let digits = (low ^ low_other) | (high ^ high_other ^ carry) << 1;
        Self(digits | beyond | beyond << 1 | cut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_add_up_to_three_each() {
        for (first, second) in (0..4).flat_map(|first| (0..4).map(move |second| (first, second))) {
            let neighbours = Sum::of_digit(4, 1) + Sum::of_digit(6, 3);
            let sum = Sum::of_digit(5, first) + neighbours + Sum::of_digit(5, second);
            assert_eq!([4, 5, 6].map(|digit| sum.digit(digit)), [1, (first + second).min(3), 3]);
        }
        assert!((Sum::default().saturated_if(true) + Sum::of_digit(DIGITS - 1, 3)).is_saturated());
        assert!(!(Sum::of_digit(DIGITS - 1, 3) + Sum::of_digit(DIGITS - 1, 3)).is_saturated());
    }
}
