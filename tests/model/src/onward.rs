//! Sums that go on to others.

use crate::sum::Sum;

/// Where the sum of a chunk over all workers is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Onward {
    /// It has not gone on.
    #[default]
    Here,
    /// With others: this sum went on.
    Out(Sum),
    /// This sum of all has come back.
    Back(Sum),
}
