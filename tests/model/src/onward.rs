//! Sums that go on to others.

use crate::sum::Sum;

/// State of the sum of a chunk over all workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Onward {
    /// Sum not sent.
    #[default]
    Here,
    /// With others: this sum went on.
    Out(Sum),
    /// Received sum of the larger job.
    Back(Sum),
}
