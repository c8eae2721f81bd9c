//! Rendezvous with one mistake.

use super::invariant::Invariant;

/// A mistake somebody could make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// A worker says that it holds, and starts the tensor.
    IgnoresStopPoint,
    /// A worker leaves where it holds, before all have agreed.
    LeavesEarly,
    /// A worker that holds does not hear what it is told then, but for the end.
    StaysHeld,
    /// A worker that has started the tensor says that it holds.
    NeverRefuses,
    /// The controller asks for the same tensor again after a refusal.
    NoLaterTensor,
    /// The controller takes the first answer for all.
    AgreesWithOne,
    /// The controller lets nobody go on who holds while somebody does not answer.
    NoRelenting,
    /// The controller forms a view as soon as one worker is back.
    FormsEarly,
    /// The controller waits for dead workers, too.
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
