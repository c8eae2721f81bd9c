//! What is to hold.

/// What always holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Invariant {
    /// All who leave at a boundary leave before the same tensor, and nobody has started it.
    Boundary,
    /// A run begins when nobody who lives is in the one before.
    Apart,
    /// If nobody has died, all workers that were in the run before have completed the same tensors.
    Nothing,
    /// Every living host comes to be in the next run.
    Ends,
}

impl Invariant {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Boundary, Self::Apart, Self::Nothing, Self::Ends];

    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Boundary => "Boundary: all leave before the same tensor, which nobody has started",
            Self::Apart => "Apart: a run begins when nobody who lives is in the one before",
            Self::Nothing => "Nothing lost: without a death, all have completed the same tensors",
            Self::Ends => "Ends: every living host comes to be in the next run",
        }
    }
}
