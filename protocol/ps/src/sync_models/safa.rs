//! Semi-synchronous parallel (SAFA, Wu et al., IEEE Trans. Computers 70(5)): a part of the workers together,
//! the others on arrival.

use crate::order::Order;
use crate::part::Part;
use crate::worker_states::{WorkerNo, WorkerPhase, WorkerStates};

/// Ends a version when a part of the workers have pushed, and no other worker lags too far behind; then those
/// that pushed pull.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Safa {
    /// C: the part of the workers; above 0.
    pub fraction: Part,
    /// Most versions that a worker may lag behind when a version ends.
    pub lag: u64,
}

impl Order for Safa {
    fn applied(&self, worker_states: &WorkerStates) -> Vec<WorkerNo> {
        let needed = self.fraction.at_least_of(worker_states.members().len()).max(1);
        let lags = |worker: &WorkerNo| {
            let worker_state = worker_states.worker_state(*worker);
            worker_state.phase() == WorkerPhase::Working
                && worker_states.version() - worker_state.base() > self.lag
        };
        // Without members, workers that left have pushed the held updates.
        let is_enough = worker_states.held().len() >= needed || worker_states.members().is_empty();
        match is_enough && !worker_states.members().iter().any(lags) {
            true => worker_states.held().iter().copied().collect(),
            false => Vec::new(),
        }
    }

    fn permits(&self, _: &WorkerStates, _: WorkerNo) -> bool {
        true
    }
}
