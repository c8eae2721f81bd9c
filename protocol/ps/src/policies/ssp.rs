//! Stale synchronous parallel: nobody gets too far ahead.

use crate::order::Order;
use crate::seats::{Seats, WorkerNo};

/// Where a worker that is ahead is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Blocking {
    /// Its update is applied, and it waits before it pulls (the R²SP paper's Section IV-A2). Worst staleness:
    /// (2s + 1)(N - 1).
    AfterPush,
    /// Its update is held until it is not ahead by it, or until all have left. Worst staleness: 2s(N - 1),
    /// which is what the R²SP paper counts with.
    BeforeCommit,
}

/// A worker is at most `bound` iterations ahead of the one that has done the fewest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ssp {
    /// s, in iterations; at least 1 with [`Blocking::BeforeCommit`].
    pub bound: u64,
    /// Where it is stopped.
    pub blocking: Blocking,
}

impl Order for Ssp {
    fn applied(&self, seats: &Seats) -> Vec<WorkerNo> {
        let least = seats.least_done();
        // Once nobody takes part any more, nobody is waited for: what is held belongs to the model.
        let is_over = seats.members().is_empty();
        let may = |worker: &&WorkerNo| match self.blocking {
            Blocking::AfterPush => true,
            Blocking::BeforeCommit => is_over || seats.seat(**worker).done() < least + self.bound,
        };
        seats.held().iter().find(may).copied().into_iter().collect()
    }

    fn permits(&self, seats: &Seats, worker: WorkerNo) -> bool {
        seats.seat(worker).done() <= seats.least_done() + self.bound
    }
}
