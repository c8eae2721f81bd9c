//! Asynchronous parallel: every worker on its own.

use crate::order::Order;
use crate::worker_states::{WorkerNo, WorkerStates};

/// Applies an update on arrival; its worker pulls at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Asp;

impl Order for Asp {
    fn applied(&self, worker_states: &WorkerStates) -> Vec<WorkerNo> {
        worker_states.held().first().copied().into_iter().collect()
    }

    fn permits(&self, _: &WorkerStates, _: WorkerNo) -> bool {
        true
    }
}
