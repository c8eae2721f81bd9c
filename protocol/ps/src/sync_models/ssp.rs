//! Stale synchronous parallel: no worker gets too far ahead.

use crate::order::Order;
use crate::worker_states::{WorkerNo, WorkerStates};

/// Point at which a worker that is ahead is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Blocking {
    /// Before the pull: its update is applied first (the R²SP paper's Section IV-A2). Worst staleness: (2s +
    /// 1)(N - 1).
    AfterPush,
    /// Before the commit: its update is held until the worker is not ahead by it, or until all have left.
    /// Worst staleness: 2s(N - 1), the R²SP paper's value.
    BeforeCommit,
}

/// Lets a worker be at most `bound` iterations ahead of the slowest one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ssp {
    /// s, in iterations; at least 1 with [`Blocking::BeforeCommit`].
    pub bound: u64,
    /// Point at which the worker is stopped.
    pub blocking: Blocking,
}

impl Order for Ssp {
    fn applied(&self, worker_states: &WorkerStates) -> Vec<WorkerNo> {
        let least = worker_states.least_done();
        // Without members, no worker is awaited: held updates belong to the model.
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
