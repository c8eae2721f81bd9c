//! Numbers that name things.

use core::{fmt, str::FromStr};

use crate::{ParseError, RangeError};

/// Defines a newtype over `u16` that holds `0..=$max`, prints as a plain number and parses back.
macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $what:literal, max $max:literal, $expected:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(try_from = "i64", into = "i64"))]
        pub struct $name(u16);

        impl $name {
            /// Highest number.
            pub const MAX: $name = $name($max);

            /// Returns the number.
            pub const fn get(self) -> u16 {
                self.0
            }

            /// The number as an index.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl From<$name> for u16 {
            fn from(id: $name) -> u16 {
                id.0
            }
        }

        impl From<$name> for i64 {
            fn from(id: $name) -> i64 {
                id.0.into()
            }
        }

        impl TryFrom<i64> for $name {
            type Error = RangeError;

            fn try_from(number: i64) -> Result<Self, RangeError> {
                if (0..=$max).contains(&number) {
                    Ok(Self(number as u16))
                } else {
                    Err(RangeError { what: $what, seen: number, expected: $expected })
                }
            }
        }

        impl TryFrom<usize> for $name {
            type Error = RangeError;

            fn try_from(index: usize) -> Result<Self, RangeError> {
                Self::try_from(i64::try_from(index).unwrap_or(i64::MAX))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = ParseError;

            fn from_str(text: &str) -> Result<Self, ParseError> {
                let error = ParseError { what: $what, expected: $expected };
                Self::try_from(text.parse::<i64>().map_err(|_| error)?).map_err(|_| error)
            }
        }
    };
}

id!(
    /// Version of an installed plan; a frame is steered by the tables of its own plan version.
    PlanVersion, "plan version", max 65535, "a whole number from 0 to 65535"
);
id!(
    /// Number of a training job.
    JobId, "job", max 65535, "a whole number from 0 to 65535"
);
id!(
    /// Index of a parameter server within a job, and of its part of the gradient.
    ShardId, "shard", max 65535, "a whole number from 0 to 65535"
);
id!(
    /// Index of a worker in the list of its job's workers. Messages for people use names and ranks.
    Rank, "worker rank", max 16383, "a whole number from 0 to 16383"
);
id!(
    /// Index of a worker in the frames of one shard: 256 groups of 64.
    BitmapIndex, "bitmap index", max 16383, "a whole number from 0 to 16383"
);

impl Rank {
    /// The bitmap index of the worker where every worker's bitmap index is its rank.
    pub const fn bitmap_index(self) -> BitmapIndex {
        BitmapIndex(self.0)
    }
}

impl From<u16> for PlanVersion {
    fn from(number: u16) -> Self {
        Self(number)
    }
}

impl From<u16> for JobId {
    fn from(number: u16) -> Self {
        Self(number)
    }
}

impl From<u16> for ShardId {
    fn from(number: u16) -> Self {
        Self(number)
    }
}

impl TryFrom<u16> for Rank {
    type Error = RangeError;

    fn try_from(rank: u16) -> Result<Self, RangeError> {
        Self::try_from(i64::from(rank))
    }
}

impl TryFrom<u16> for BitmapIndex {
    type Error = RangeError;

    fn try_from(bitmap_index: u16) -> Result<Self, RangeError> {
        Self::try_from(i64::from(bitmap_index))
    }
}

/// Incarnation of a host, and so run of a plan version: a number that the host draws at random when it
/// starts.
///
/// The same plan may be run again under its plan version, by hosts without state of the previous run. Frames
/// and switch state of that run have another incarnation of the parameter server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Incarnation(u32);

impl Incarnation {
    /// Unknown incarnation; never a host's own.
    pub const UNKNOWN: Self = Self(0);

    /// Creates an incarnation; a host's own is not 0.
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Returns the number.
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl From<u32> for Incarnation {
    fn from(number: u32) -> Self {
        Self(number)
    }
}

impl fmt::Display for Incarnation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0)
    }
}
