//! Values that show the contributors of a sum, and how often each was counted.

use crate::size::{MAX_CHUNKS, MAX_WORKERS};

/// Values of one frame: a digit of two bits for every possible contribution of a worker to a sum. Any sum
/// shows the contributors, the chunk, the scale and the count. Three stands for three times or more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sum(u128);

/// Generation of contributions outside the runs of the server's first and second generations. Contributions
/// inside have 0, their scale, or a later generation; no network has two meanings of one generation.
pub const BEFORE: u8 = 3;
/// Generation of a restarted worker's values, which differ from another process's.
pub const SECOND_GENERATION: u8 = 1;
/// Generation of values in the run of a restarted server.
pub const SECOND_RUN: u8 = 2;
/// Generation of values of the next tensor.
pub const NEXT_TENSOR: u8 = 1;

/// Digits of a [`Sum`].
pub const DIGITS: u32 = (BEFORE as u32 + 1) * MAX_CHUNKS as u32 * MAX_WORKERS as u32;

const LOW_BITS: u128 = (u128::MAX / 3) & ((1 << VALUE_AT) - 1);

/// Place of the value, in six bits.
const VALUE_AT: u32 = 2 * DIGITS;
const VALUE_BITS: u128 = 63 << VALUE_AT;
const _: () = assert!(VALUE_AT + 6 <= 128);

/// The least and the greatest value that a register holds.
pub const LIMITS: (i8, i8) = (-4, 3);

impl Sum {
    /// Returns the contribution of `worker` to the chunk `sequence` in its `generation`.
    pub fn term(generation: u8, sequence: u8, worker: u8) -> Self {
        Self::of_digit(digit(generation, sequence, worker), 1)
    }

    /// Creates a size for the chunk `sequence` of maxima, and nothing else: so the greater of two such sums
    /// has the greater size.
    pub fn of_size(sequence: u8, size: u8) -> Self {
        Self::of_digit(digit(0, sequence, 0), size)
    }

    /// Returns the size for the chunk `sequence` of maxima.
    pub fn size(self, sequence: u8) -> u8 {
        self.digit(digit(0, sequence, 0))
    }

    /// Creates a sum with `count` (at most 3) in one digit.
    pub fn of_digit(digit: u32, count: u8) -> Self {
        Self(u128::from(count) << (2 * digit))
    }

    /// Returns the digit of that number.
    pub fn digit(self, digit: u32) -> u8 {
        (self.0 >> (2 * digit) & 3) as u8
    }

    /// Returns the sum with that value (−32 to 31), which is added as a number.
    #[must_use]
    pub fn with_value(self, value: i8) -> Self {
        Self(self.0 & !VALUE_BITS | u128::from(value as u8 & 63) << VALUE_AT)
    }

    /// Returns the value, 0 if none was given.
    pub fn value(self) -> i8 {
        (((self.0 & VALUE_BITS) >> VALUE_AT) as i8) << 2 >> 2
    }

    /// Returns the sum in a frame: a value beyond the limits saturates there.
    #[must_use]
    pub fn within_limits(self) -> Self {
        self.with_value(self.value().clamp(LIMITS.0, LIMITS.1))
    }

    /// Returns whether the value is one that a register may have been cut off at.
    pub fn is_at_limit(self) -> bool {
        [LIMITS.0, LIMITS.1].contains(&self.value())
    }

    /// Added in a register: with saturation, and a value that is at a limit `stays` there.
    #[must_use]
    pub fn plus_within_limits(self, other: Self, stays: bool) -> Self {
        let sum = (self + other).within_limits();
        if stays && self.is_at_limit() { sum.with_value(self.value()) } else { sum }
    }

    /// Returns a frame whose first half of values is of this sum, and whose second half is of another. If
    /// they differ, no contribution matches it: a digit that differs is 3.
    #[must_use]
    pub fn with_other_half(self, other: Self) -> Self {
        let differ = (0..DIGITS).filter(|digit| self.digit(*digit) != other.digit(*digit));
        differ.fold(self, |sum, digit| sum + Self::of_digit(digit, 3))
    }
}

/// Returns the number of the digit that `worker` sends for the chunk `sequence`.
pub(crate) fn digit(generation: u8, sequence: u8, worker: u8) -> u32 {
    (u32::from(generation) * u32::from(MAX_CHUNKS) + u32::from(sequence)) * u32::from(MAX_WORKERS)
        + u32::from(worker)
}

impl std::ops::Add for Sum {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let (low, low_other) = (self.0 & LOW_BITS, other.0 & LOW_BITS);
        let (high, high_other) = (self.0 >> 1 & LOW_BITS, other.0 >> 1 & LOW_BITS);
        let carry = low & low_other;
        // Full adders side by side; values beyond 3 stay at 3.
        let beyond = high & high_other | high & carry | high_other & carry;
        let digits = (low ^ low_other) | (high ^ high_other ^ carry) << 1;
        let value = ((self.0 & VALUE_BITS) + (other.0 & VALUE_BITS)) & VALUE_BITS;
        Self(digits | beyond | beyond << 1 | value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_add_up_to_three_each() {
        for (first, second) in (0..4).flat_map(|first| (0..4).map(move |second| (first, second))) {
            let neighbors = Sum::of_digit(4, 1) + Sum::of_digit(6, 3);
            let sum = Sum::of_digit(5, first) + neighbors + Sum::of_digit(5, second);
            assert_eq!([4, 5, 6].map(|digit| sum.digit(digit)), [1, (first + second).min(3), 3]);
        }
        let bounds = Sum::of_digit(0, 3).with_value(-4) + Sum::of_digit(DIGITS - 1, 3).with_value(3);
        assert_eq!([0, DIGITS - 1].map(|digit| bounds.digit(digit)), [3, 3]);
        assert_eq!(bounds.value(), -1);
        let most = Sum::of_digit(DIGITS - 1, 3) + Sum::of_digit(DIGITS - 1, 3);
        assert_eq!((most.digit(DIGITS - 1), most.value()), (3, 0));
    }

    #[test]
    fn the_greater_of_two_sums_of_sizes_has_the_greater_size() {
        for (first, second) in (0..4).flat_map(|first| (0..4).map(move |second| (first, second))) {
            let greater = Sum::of_size(2, first).max(Sum::of_size(2, second));
            assert_eq!((greater.size(2), greater.size(1)), (first.max(second), 0));
        }
    }

    #[test]
    fn halves_of_two_sums_are_no_sum() {
        let [first, second] = [0, 1].map(|worker| Sum::term(0, 0, worker));
        assert_eq!(first.with_other_half(first), first);
        let mixed = (first + second).with_other_half(second);
        assert_eq!([0, 1].map(|worker| mixed.digit(digit(0, 0, worker))), [3, 1]);
    }

    /// All sums of up to four values of a register, in every order: one that is not at a limit is the sum.
    #[test]
    fn a_value_that_is_not_at_a_limit_was_never_cut_off() {
        let range = || LIMITS.0..=LIMITS.1;
        let wrong = |stays: bool| {
            let mut wrong = 0;
            for first in range() {
                let mut sums = vec![(Sum::default().with_value(first), i32::from(first))];
                for _ in 0..3 {
                    let add = |(sum, exact): (Sum, i32), value: i8| {
                        let term = Sum::default().with_value(value);
                        (sum.plus_within_limits(term, stays), exact + i32::from(value))
                    };
                    sums =
                        sums.into_iter().flat_map(|sum| range().map(move |value| add(sum, value))).collect();
                    wrong += sums
                        .iter()
                        .filter(|(sum, exact)| !sum.is_at_limit() && i32::from(sum.value()) != *exact)
                        .count();
                }
            }
            wrong
        };
        assert_eq!(wrong(true), 0);
        assert!(wrong(false) > 0, "saturation alone forgets");
    }
}
