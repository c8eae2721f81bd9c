//! Round-robin synchronous parallel: in turn, at even gaps.

use crate::order::{Order, Spacing};
use crate::worker_states::{WorkerNo, WorkerStates};

/// Time at which an update is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Applied {
    /// In turn: an update that arrives before its turn is held. No gradient is staler than N - 1.
    InTurn,
    /// On arrival, as in the R²SP paper's Algorithm 1: only permissions are in turn. Worst staleness: 2(N -
    /// 1).
    OnArrival,
}

/// Permits workers to pull in the order of their numbers, r T/N apart (Sections IV-A and V).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct R2sp {
    /// r, fixed or tuned.
    pub spacing: Spacing,
    /// Time at which updates are applied.
    pub applied: Applied,
}

impl Order for R2sp {
    fn applied(&self, worker_states: &WorkerStates) -> Vec<WorkerNo> {
        let due = match self.applied {
            Applied::InTurn => {
                worker_states.first_in_line().filter(|&first| worker_states.worker_state(first).is_held())
            }
            Applied::OnArrival => worker_states.held().first().copied(),
        };
        due.into_iter().collect()
    }

    fn permits(&self, worker_states: &WorkerStates, worker: WorkerNo) -> bool {
        worker_states.next_in_turn() == Some(worker)
    }

    fn spacing(&self) -> Spacing {
        self.spacing
    }
}
