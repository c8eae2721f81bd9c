//! What is to hold.

/// What always holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Invariant {
    /// All who leave at a stop point leave before the same tensor, and nobody has started it.
    StopPoint,
    /// A view begins when nobody who lives is in the one before.
    Apart,
    /// If nobody has died, all workers that were in the view before have completed the same tensors.
    Nothing,
    /// Every living host comes to be in the next view.
    Ends,
}

impl Invariant {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::StopPoint, Self::Apart, Self::Nothing, Self::Ends];

    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::StopPoint => "Boundary: all leave before the same tensor, which nobody has started",
            Self::Apart => "Apart: a view begins when nobody who lives is in the one before",
            Self::Nothing => "Nothing lost: without a death, all have completed the same tensors",
            Self::Ends => "Ends: every living host comes to be in the next view",
        }
    }
}
