//! Bulk synchronous parallel: all workers together.

use crate::order::Order;
use crate::worker_states::{WorkerNo, WorkerStates};

/// Ends an iteration when all have pushed; then all pull.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bsp;

impl Order for Bsp {
    fn applied(&self, worker_states: &WorkerStates) -> Vec<WorkerNo> {
        let all = worker_states.members().iter().all(|&member| worker_states.worker_state(member).is_held());
        if all { worker_states.held().iter().copied().collect() } else { Vec::new() }
    }

    fn permits(&self, _: &WorkerStates, _: WorkerNo) -> bool {
        true
    }
}
