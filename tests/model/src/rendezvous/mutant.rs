//! Rendezvous with one mistake.

use super::invariant::Invariant;

/// A possible mistake in an implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// A worker answers that it holds, and starts the tensor.
    IgnoresStopPoint,
    /// A worker leaves where it holds, before all have agreed.
    LeavesEarly,
    /// A worker that holds ignores later messages, except for the end.
    StaysHeld,
    /// A worker that has started the tensor answers that it holds.
    NeverRefuses,
    /// The controller asks for the same tensor again after a refusal.
    NoLaterTensor,
    /// The controller takes the first answer for all.
    AgreesWithOne,
    /// The controller does not release workers that hold while another worker does not answer.
    NoRelenting,
    /// The controller forms a view as soon as one worker is back.
    FormsEarly,
    /// The controller also waits for failed workers.
    WaitsForTheDead,
}

impl Mutant {
    /// Each with the invariant that it breaks.
    pub const ALL: [(Self, Invariant); 9] = [
        (Self::IgnoresStopPoint, Invariant::StopPoint),
        (Self::LeavesEarly, Invariant::StopPoint),
        (Self::StaysHeld, Invariant::Ends),
        (Self::NeverRefuses, Invariant::StopPoint),
        (Self::NoLaterTensor, Invariant::Ends),
        (Self::AgreesWithOne, Invariant::StopPoint),
        (Self::NoRelenting, Invariant::Ends),
        (Self::FormsEarly, Invariant::Apart),
        (Self::WaitsForTheDead, Invariant::Ends),
    ];
}
