//! Stale synchronous parallel: nobody gets too far ahead.

use crate::order::Order;
use crate::worker_states::{WorkerNo, WorkerStates};

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
    fn applied(&self, worker_states: &WorkerStates) -> Vec<WorkerNo> {
        let least = worker_states.least_done();
        // Once nobody takes part any more, nobody is waited for: what is held belongs to the model.
        let is_over = worker_states.members().is_empty();
        let may = |worker: &&WorkerNo| match self.blocking {
            Blocking::AfterPush => true,
            Blocking::BeforeCommit => {
                is_over || worker_states.worker_state(**worker).done() < least + self.bound
            }
        };
        worker_states.held().iter().find(may).copied().into_iter().collect()
    }

    fn permits(&self, worker_states: &WorkerStates, worker: WorkerNo) -> bool {
        worker_states.worker_state(worker).done() <= worker_states.least_done() + self.bound
    }
}
