//! Number of values per frame, and their number formats.

use core::{fmt, str::FromStr};

use crate::field::{ETHERNET_BYTES, VALUES};
use crate::{ParseError, RangeError};

/// Number of 32-bit values in a frame: fixed per compiled switch program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "i64", into = "i64"))]
#[repr(u16)]
pub enum ValuesPerFrame {
    /// 32 values, frames of 172 bytes.
    N32 = 32,
    /// 64 values, frames of 300 bytes.
    N64 = 64,
    /// 256 values, frames of 1068 bytes: the most for an MTU of 1500.
    N256 = 256,
    /// 1024 values, jumbo frames of 4140 bytes.
    N1024 = 1024,
    /// 2048 values, jumbo frames of 8236 bytes: the most for an MTU of 9000.
    N2048 = 2048,
}

const VALUES_EXPECTED: &str = "32, 64, 256, 1024 or 2048";

impl ValuesPerFrame {
    /// Every choice, smallest first.
    pub const ALL: [Self; 5] = [Self::N32, Self::N64, Self::N256, Self::N1024, Self::N2048];

    /// Length in bytes of the longest frame.
    pub const LONGEST_FRAME_BYTES: usize = Self::N2048.frame_bytes();

    /// The number of values.
    pub const fn get(self) -> usize {
        self as usize
    }

    /// Length in bytes of a frame with that many values.
    pub const fn frame_bytes(self) -> usize {
        VALUES + 4 * self.get()
    }

    /// Returns the least MTU of a link that carries the frames, in bytes without the Ethernet header.
    pub const fn mtu(self) -> u16 {
        (self.frame_bytes() - ETHERNET_BYTES) as u16
    }

    /// The choice that makes frames of `bytes` bytes.
    pub fn of_frame(bytes: usize) -> Option<Self> {
        Self::ALL.into_iter().find(|n| n.frame_bytes() == bytes)
    }
}

impl From<ValuesPerFrame> for u16 {
    fn from(values: ValuesPerFrame) -> u16 {
        values as u16
    }
}

impl From<ValuesPerFrame> for i64 {
    fn from(values: ValuesPerFrame) -> i64 {
        (values as u16).into()
    }
}

impl TryFrom<i64> for ValuesPerFrame {
    type Error = RangeError;

    fn try_from(number: i64) -> Result<Self, RangeError> {
        Self::ALL.into_iter().find(|n| n.get() as i64 == number).ok_or(RangeError {
            what: "values per frame",
            seen: number,
            expected: VALUES_EXPECTED,
        })
    }
}

impl fmt::Display for ValuesPerFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl FromStr for ValuesPerFrame {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let error = ParseError { what: "number of values per frame", expected: VALUES_EXPECTED };
        Self::try_from(text.parse::<i64>().map_err(|_| error)?).map_err(|_| error)
    }
}

/// Number format of a chunk's values: `v` means `v · 2^step`, and the step follows from this exponent and the
/// number of workers (`docs/protocol/numbers.md`). An exponent x means that the largest of the scaled values
/// is below 2^(x + 2) in magnitude. Three exponents, [`MAXIMA`](Self::MAXIMA), [`FLOATS`](Self::FLOATS) and
/// [`DIGITS`](Self::DIGITS), scale nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct Exponent(i8);

const EXPONENT_EXPECTED: &str = "a whole number from -128 to 127";

impl Exponent {
    /// Values are the sizes of the largest values of blocks, of which the greatest counts.
    pub const MAXIMA: Self = Self(i8::MIN);
    /// Values are the bits of floats. Only servers sum them: switches pass them on.
    pub const FLOATS: Self = Self(i8::MIN + 1);
    /// The lowest exponent that scales.
    pub const MIN: Self = Self(i8::MIN + 2);
    /// Values are the digits of exact sums.
    pub const DIGITS: Self = Self(i8::MAX);
    /// The highest exponent that scales.
    pub const MAX: Self = Self(i8::MAX - 1);

    /// The number itself.
    pub const fn get(self) -> i8 {
        self.0
    }

    /// The nearest exponent that scales to `number`.
    pub fn saturating(number: i32) -> Self {
        Self(number.clamp(Self::MIN.0.into(), Self::MAX.0.into()) as i8)
    }
}

impl From<i8> for Exponent {
    fn from(number: i8) -> Self {
        Self(number)
    }
}

impl From<Exponent> for i32 {
    fn from(exponent: Exponent) -> i32 {
        exponent.0.into()
    }
}

impl TryFrom<i64> for Exponent {
    type Error = RangeError;

    fn try_from(number: i64) -> Result<Self, RangeError> {
        i8::try_from(number).map(Self).map_err(|_| RangeError {
            what: "exponent",
            seen: number,
            expected: EXPONENT_EXPECTED,
        })
    }
}

impl fmt::Display for Exponent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Exponent {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let error = ParseError { what: "exponent", expected: EXPONENT_EXPECTED };
        text.parse().map(Self).map_err(|_| error)
    }
}
