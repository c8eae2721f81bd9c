//! A worker's part: ask, pull, compute, push, and again.

use crate::server::PushOutcome;

/// What a worker has its host do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// Join, and tell the server who this is.
    Join,
    /// Ask the server for the next iteration.
    Request,
    /// Pull the model.
    Pull {
        /// The number of the iteration.
        iteration: u64,
    },
    /// Compute an update from what was pulled.
    Compute {
        /// The number of the iteration.
        iteration: u64,
        /// How many samples.
        batch: u32,
    },
    /// Push what was computed.
    Push {
        /// The number of the iteration.
        iteration: u64,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Stage {
    Asking,
    Pulling { iteration: u64, batch: u32 },
    Computing { iteration: u64 },
    Pushing { iteration: u64 },
}

/// The state machine of one worker. Its host does a step and tells when it is done; what comes too late, or
/// twice, is answered with no step.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Worker {
    stage: Stage,
}

impl Default for Worker {
    fn default() -> Self {
        Self::new()
    }
}

impl Worker {
    /// A worker that has to [`start`](Self::start).
    pub fn new() -> Self {
        Worker { stage: Stage::Asking }
    }

    /// It has just started: it joins and asks.
    pub fn start(&mut self) -> [Step; 2] {
        self.stage = Stage::Asking;
        [Step::Join, Step::Request]
    }

    /// The server's permission has come. It counts for the iteration that it names, whatever was going on;
    /// the same one again changes nothing.
    pub fn permitted(&mut self, iteration: u64, batch: u32) -> Option<Step> {
        let is_on = match self.stage {
            Stage::Asking => false,
            Stage::Pulling { iteration: on, .. }
            | Stage::Computing { iteration: on, .. }
            | Stage::Pushing { iteration: on } => on >= iteration,
        };
        if is_on {
            return None;
        }
        self.stage = Stage::Pulling { iteration, batch };
        Some(Step::Pull { iteration })
    }

    /// The model has come.
    pub fn pulled(&mut self) -> Option<Step> {
        let Stage::Pulling { iteration, batch } = self.stage else { return None };
        self.stage = Stage::Computing { iteration };
        Some(Step::Compute { iteration, batch })
    }

    /// The update is computed.
    pub fn computed(&mut self) -> Option<Step> {
        let Stage::Computing { iteration } = self.stage else { return None };
        self.stage = Stage::Pushing { iteration };
        Some(Step::Push { iteration })
    }

    /// The server has said what became of the push of an iteration.
    pub fn pushed(&mut self, iteration: u64, _: PushOutcome) -> Option<Step> {
        let Stage::Pushing { iteration: on } = self.stage else { return None };
        if on != iteration {
            return None;
        }
        // Whether it was held, repeated or unasked: what comes next is a permission.
        self.stage = Stage::Asking;
        Some(Step::Request)
    }

    /// The server has refused the pull of an iteration: its permission is void, so the worker asks. The next
    /// permission may name the same iteration.
    pub fn not_permitted(&mut self, iteration: u64) -> Option<Step> {
        let Stage::Pulling { iteration: on, .. } = self.stage else { return None };
        if on != iteration {
            return None;
        }
        self.stage = Stage::Asking;
        Some(Step::Request)
    }

    /// The connection to the server is new: what was under way is done again.
    pub fn reconnected(&self) -> Step {
        match self.stage {
            Stage::Asking | Stage::Computing { .. } => Step::Request,
            Stage::Pulling { iteration, .. } => Step::Pull { iteration },
            Stage::Pushing { iteration } => Step::Push { iteration },
        }
    }
}
