//! Invariants.

/// An invariant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Invariant {
    /// All workers that leave at a stop point leave before the same tensor, and none has started it.
    StopPoint,
    /// A view starts when no living worker is in the previous view.
    Apart,
    /// If no worker has failed, all workers of the previous view have completed the same tensors.
    Nothing,
    /// Every living host reaches the next view.
    Ends,
}

impl Invariant {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::StopPoint, Self::Apart, Self::Nothing, Self::Ends];

    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::StopPoint => "Stop point: all leave before the same tensor, which no worker has started",
            Self::Apart => "Apart: a view starts when no living worker is in the one before",
            Self::Nothing => "Nothing lost: without a failure, all have completed the same tensors",
            Self::Ends => "Ends: every living host reaches the next view",
        }
    }
}
