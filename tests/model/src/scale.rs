//! Values: exact, or scaled by the maximum of their tensor's sizes.

use crate::size::{MAX_TENSORS, MAX_WORKERS};
use crate::sum::Sum;

/// Number format of a chunk, as the header's exponent encodes it.
///
/// Here a tensor is one block, a size is 0 to 2 or [`NOT_FINITE`], and the exponent that follows from a
/// maximum is that maximum. So exponents differ where maxima do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Exponent {
    /// Digits of exact sums.
    #[default]
    Digits,
    /// Floats, which only the server adds up.
    Floats,
    /// Values, scaled by that maximum.
    Scaled(u8),
    /// Sizes, of which the greatest counts.
    Maxima,
}

impl Exponent {
    /// Both in one: the sum, or the greater size.
    pub(crate) fn combined(self, sum: Sum, other: Sum) -> Sum {
        match self {
            Self::Maxima => sum.max(other),
            Self::Digits | Self::Floats | Self::Scaled(_) => sum + other,
        }
    }
}

/// The size of a tensor that has a NaN or an infinity: the greatest.
pub const NOT_FINITE: u8 = 3;

/// By tensor and rank: the worker's size. The maxima of the two tensors differ, and are of different workers.
pub(crate) const SIZES: [[u8; MAX_WORKERS as usize]; MAX_TENSORS as usize] = [[1, 2, 0], [1, 0, 0]];
