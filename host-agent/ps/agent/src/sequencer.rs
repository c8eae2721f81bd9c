//! Decides which worker pulls when, and which updates the server applies to its model.

use std::time::Duration;

use inart_protocol_ps::{Overflow, Refusal, Update, WorkerNo};

/// Decision of a sequencer.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// A participant may pull. A permission may be repeated.
    Permit {
        /// Participant.
        who: WorkerNo,
        /// Number of the participant's iteration.
        iteration: u64,
        /// Number of samples.
        batch: u32,
    },
    /// The model has a new version.
    Applied(Applied),
    /// An update was dropped in its turn, because its values were refused.
    Discarded {
        /// Participant.
        who: WorkerNo,
        /// Iteration of the update.
        iteration: u64,
        /// Reason.
        refusal: Refusal,
    },
    /// A participant timed out.
    Gone {
        /// Participant.
        who: WorkerNo,
    },
    /// A participant is excluded permanently for its data.
    LeftOut {
        /// Participant.
        who: WorkerNo,
    },
    /// An update of finite values would make the model infinite: the training ends.
    Overflow {
        /// Version that the update would have made.
        version: u64,
        /// Update and value at fault.
        overflow: Overflow,
    },
}

/// Updates that were applied together.
#[derive(Debug, Clone, PartialEq)]
pub struct Applied {
    /// New version of the model.
    pub version: u64,
    /// Updates in the order of application.
    pub updates: Vec<Update>,
}

/// Outcome of a complete update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// Whether the update is held, or counted as refused; otherwise it has no permission.
    pub is_taken: bool,
    /// Defect of the values, if any.
    pub refusal: Option<Refusal>,
}

/// State of a server for a checkpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// Version of the model.
    pub version: u64,
    /// By participant, the number of its applied or discarded updates.
    pub done: Vec<u64>,
    /// By participant, whether it took part.
    pub members: Vec<bool>,
    /// Values of the model.
    pub values: Vec<f32>,
}

/// The model, and the order in which participants use it. Times count from the server's start.
pub trait Sequencer {
    /// Adds a participant; one that takes part already restarts its iteration.
    fn join(&mut self, who: WorkerNo, now: Duration);

    /// Removes a participant. An update of it that has arrived is applied in its turn.
    fn leave(&mut self, who: WorkerNo, now: Duration);

    /// Returns whether a participant takes no part.
    fn is_away(&self, who: WorkerNo) -> bool;

    /// Returns whether a participant has pulled and its update has not arrived yet.
    fn is_working(&self, who: WorkerNo) -> bool;

    /// Returns whether a participant is excluded permanently for its data.
    fn is_left_out(&self, _who: WorkerNo) -> bool {
        false
    }

    /// Takes a participant's request for its next iteration.
    fn request(&mut self, who: WorkerNo, now: Duration);

    /// Starts a participant's pull. Returns the version, unless it may not pull.
    fn pull(&mut self, who: WorkerNo, now: Duration) -> Option<u64>;

    /// Takes a participant's complete update, which has the model's length.
    fn push(&mut self, who: WorkerNo, iteration: u64, values: Vec<f32>, now: Duration) -> Verdict;

    /// Advances the time.
    fn tick(&mut self, now: Duration);

    /// Returns when [`tick`](Self::tick) is due; `None` if nothing waits for time.
    fn wake_at(&self) -> Option<Duration>;

    /// Returns the next decision, in order.
    fn next_decision(&mut self) -> Option<Decision>;

    /// Returns the model's version.
    fn version(&self) -> u64;

    /// Returns the model's values.
    fn values(&self) -> &[f32];

    /// Returns whether all members have had `iterations` updates applied or discarded; false without members.
    fn have_done(&self, iterations: u64) -> bool;

    /// Returns the state for a checkpoint.
    fn kept(&self) -> Checkpoint;
}
