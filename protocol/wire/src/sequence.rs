//! Sequence numbers of chunks.

use core::cmp::Ordering;
use core::{fmt, str::FromStr};

use crate::ParseError;

/// Number of a chunk: counts up over the rounds of a (job, shard, plan version), wraps at 2^32.
///
/// Compared as a serial number (RFC 1982): `a` is newer than `b` when it is less than 2^31 steps ahead. Two
/// numbers exactly 2^31 apart have no order, so `partial_cmp` returns `None` for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct ChunkSeq(u32);

impl ChunkSeq {
    /// The number as sent.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The number `chunks` further on, wrapping.
    #[must_use]
    pub const fn advance(self, chunks: u32) -> Self {
        Self(self.0.wrapping_add(chunks))
    }

    /// Steps forward from `earlier` to this number, wrapping.
    pub const fn since(self, earlier: Self) -> u32 {
        self.0.wrapping_sub(earlier.0)
    }

    /// The position of this chunk in a ring of `window` positions; `window` is a power of two.
    pub const fn position(self, window: u32) -> usize {
        debug_assert!(window.is_power_of_two());
        (self.0 & (window - 1)) as usize
    }
}

impl PartialOrd for ChunkSeq {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match self.since(*other) {
            0 => Some(Ordering::Equal),
            1..0x8000_0000 => Some(Ordering::Greater),
            0x8000_0000 => None,
            _ => Some(Ordering::Less),
        }
    }
}

impl From<u32> for ChunkSeq {
    fn from(number: u32) -> Self {
        Self(number)
    }
}

impl fmt::Display for ChunkSeq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for ChunkSeq {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let expected = "a whole number from 0 to 4294967295";
        text.parse().map(Self).map_err(|_| ParseError { what: "chunk sequence", expected })
    }
}
