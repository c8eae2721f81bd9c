//! Round-robin synchronous parallel: in turn, at even gaps.

use crate::order::{Order, Spacing};
use crate::seats::{Seats, WorkerNo};

/// When an update is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Applied {
    /// In turn: one that arrives before its turn is held. No gradient is staler than N - 1.
    InTurn,
    /// When it arrives, as the R²SP paper's Algorithm 1 has it: only permissions are in turn. Worst
    /// staleness: 2(N - 1).
    OnArrival,
}

/// Workers pull in the order of their numbers, r T/N apart (Sections IV-A and V).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct R2sp {
    /// r, or that it is tuned.
    pub spacing: Spacing,
    /// When updates are applied.
    pub applied: Applied,
}

impl Order for R2sp {
    fn applied(&self, seats: &Seats) -> Vec<WorkerNo> {
        let due = match self.applied {
            Applied::InTurn => seats.first_in_line().filter(|&first| seats.seat(first).is_held()),
            Applied::OnArrival => seats.held().first().copied(),
        };
        due.into_iter().collect()
    }

    fn permits(&self, seats: &Seats, worker: WorkerNo) -> bool {
        seats.next_in_turn() == Some(worker)
    }

    fn spacing(&self) -> Spacing {
        self.spacing
    }
}
