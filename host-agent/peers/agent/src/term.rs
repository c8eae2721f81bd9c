//! Terms of coordinators.

use std::fmt;

/// A coordinator's term: the newer one is in charge, and peers refuse messages of an older one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, prost::Message)]
pub struct Term {
    /// Number: one more than the highest that any peer knew when the coordinator started.
    #[prost(uint64, tag = "1")]
    pub number: u64,
    /// Random number that distinguishes two coordinators that started at the same time.
    #[prost(uint32, tag = "2")]
    pub holder: u32,
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "term {} of {:08x}", self.number, self.holder)
    }
}
