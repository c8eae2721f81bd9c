//! Pairing with one mistake.

use super::invariant::Invariant;

/// A mistake in the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// The server compares no transcripts.
    NeverCompares,
    /// The server compares the newest marks, whatever their numbers.
    IgnoresNumbers,
    /// A transcript has the mark of the newest tensor only.
    NewestOnly,
    /// A mark is of its tensor alone, and not of those before.
    ForgetsHistory,
    /// The server forgets the mark of a worker that has sent a later transcript.
    ForgetsMarks,
    /// The server ends the job before the marks of all workers are known.
    JudgesAtOnce,
}

impl Mutant {
    /// Each with the invariant that it breaks.
    pub const ALL: [(Self, Invariant); 6] = [
        (Self::NeverCompares, Invariant::Found),
        (Self::IgnoresNumbers, Invariant::Innocent),
        (Self::NewestOnly, Invariant::Found),
        (Self::ForgetsHistory, Invariant::Found),
        (Self::ForgetsMarks, Invariant::Found),
        (Self::JudgesAtOnce, Invariant::Named),
    ];
}
