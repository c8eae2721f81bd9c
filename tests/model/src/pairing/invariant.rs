//! Invariants of pairing.

/// A property of every reachable state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Invariant {
    /// A job ends only if two workers started different tensors in the same place.
    Innocent,
    /// If one worker of three or more skipped a tensor, the end names that worker.
    Named,
    /// If two workers started different tensors in the same place, the job ends.
    Found,
}

impl Invariant {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Innocent, Self::Named, Self::Found];

    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Innocent => {
                "Innocent: a job ends only if two workers started different tensors in one place"
            }
            Self::Named => {
                "Named: if one worker of three or more skipped a tensor, the end names that worker"
            }
            Self::Found => "Found: if two workers started different tensors in one place, the job ends",
        }
    }
}
