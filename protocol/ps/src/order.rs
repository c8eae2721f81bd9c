//! What a policy decides.

use crate::part::Part;
use crate::worker_states::{WorkerNo, WorkerStates};

/// The time between two permissions, as a part of T/N: T is the longest time of a member from pull to push, N
/// the number of members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Spacing {
    /// None: who may pull pulls at once.
    None,
    /// This part.
    Fixed(Part),
    /// A part that the server finds by itself, by the time that rounds take.
    Tuned,
}

/// Which updates are applied when, and who may pull when.
pub trait Order {
    /// Whose updates, among those held, are applied now, together as one version; empty if none are. It is
    /// asked again until it says none.
    fn applied(&self, worker_states: &WorkerStates) -> Vec<WorkerNo>;

    /// Whether a worker that waits, and of whom nothing is held, may pull.
    fn permits(&self, worker_states: &WorkerStates, worker: WorkerNo) -> bool;

    /// What is between two permissions.
    fn spacing(&self) -> Spacing {
        Spacing::None
    }
}
