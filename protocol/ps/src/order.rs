//! Decisions of a synchronization model.

use crate::part::Part;
use crate::worker_states::{WorkerNo, WorkerStates};

/// Time between two permissions, as a part of T/N: T is the longest time of a member from pull to push, N the
/// number of members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Spacing {
    /// None: permitted workers pull at once.
    None,
    /// This part.
    Fixed(Part),
    /// A part that the server tunes by the duration of rounds.
    Tuned,
}

/// Decides which updates are applied when, and which workers may pull when.
pub trait Order {
    /// Returns the workers whose held updates are applied now, together as one version; empty for none.
    /// Called until it returns none.
    fn applied(&self, worker_states: &WorkerStates) -> Vec<WorkerNo>;

    /// Returns whether a waiting worker without a held update may pull.
    fn permits(&self, worker_states: &WorkerStates, worker: WorkerNo) -> bool;

    /// Returns the time between two permissions.
    fn spacing(&self) -> Spacing {
        Spacing::None
    }
}
