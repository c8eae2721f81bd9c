//! A worker's part: request, pull, compute, push, and repeat.

use crate::server::PushOutcome;

/// Action for a worker's host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// Join the server.
    Join,
    /// Request the next iteration.
    Request,
    /// Pull the model.
    Pull {
        /// Number of the iteration.
        iteration: u64,
    },
    /// Compute an update from the pulled model.
    Compute {
        /// Number of the iteration.
        iteration: u64,
        /// Number of samples.
        batch: u32,
    },
    /// Push the update.
    Push {
        /// Number of the iteration.
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

/// State machine of one worker. Its host performs a step and reports its completion; late and duplicate
/// events cause no step.
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
    /// Creates a worker that must [`start`](Self::start).
    pub fn new() -> Self {
        Worker { stage: Stage::Asking }
    }

    /// Starts the worker: it joins and requests.
    pub fn start(&mut self) -> [Step; 2] {
        self.stage = Stage::Asking;
        [Step::Join, Step::Request]
    }

    /// Takes the server's permission. It starts the iteration that it names, whatever was active; a repeated
    /// one changes nothing.
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

    /// Takes note that the model has arrived.
    pub fn pulled(&mut self) -> Option<Step> {
        let Stage::Pulling { iteration, batch } = self.stage else { return None };
        self.stage = Stage::Computing { iteration };
        Some(Step::Compute { iteration, batch })
    }

    /// Takes note that the update is computed.
    pub fn computed(&mut self) -> Option<Step> {
        let Stage::Computing { iteration } = self.stage else { return None };
        self.stage = Stage::Pushing { iteration };
        Some(Step::Push { iteration })
    }

    /// Takes the server's outcome of an iteration's push.
    pub fn pushed(&mut self, iteration: u64, _: PushOutcome) -> Option<Step> {
        let Stage::Pushing { iteration: on } = self.stage else { return None };
        if on != iteration {
            return None;
        }
        // Held, repeated or unasked: a permission follows in any case.
        self.stage = Stage::Asking;
        Some(Step::Request)
    }

    /// Takes the server's refusal of an iteration's pull: the permission is void, so the worker requests
    /// again. The next permission may name the same iteration.
    pub fn not_permitted(&mut self, iteration: u64) -> Option<Step> {
        let Stage::Pulling { iteration: on, .. } = self.stage else { return None };
        if on != iteration {
            return None;
        }
        self.stage = Stage::Asking;
        Some(Step::Request)
    }

    /// Returns the step to repeat on a new connection to the server.
    pub fn reconnected(&self) -> Step {
        match self.stage {
            Stage::Asking | Stage::Computing { .. } => Step::Request,
            Stage::Pulling { iteration, .. } => Step::Pull { iteration },
            Stage::Pushing { iteration } => Step::Push { iteration },
        }
    }
}
