//! What decides whom a server lets pull, and what is applied to its model.

use std::time::Duration;

use inart_protocol_ps::{Overflow, Refusal, Update, WorkerNo};

/// What a sequencer has decided.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// A participant may pull. The same one may be said again.
    Permit {
        /// Who.
        who: WorkerNo,
        /// The number of its iteration.
        iteration: u64,
        /// How many samples it computes with.
        batch: u32,
    },
    /// The model has a new version.
    Applied(Applied),
    /// An update was dropped in its turn, as its values were refused.
    Discarded {
        /// Whose.
        who: WorkerNo,
        /// Of which iteration.
        iteration: u64,
        /// Why.
        refusal: Refusal,
    },
    /// A participant was given up: nothing was heard of it for too long.
    Gone {
        /// Who.
        who: WorkerNo,
    },
    /// A participant is left out for its data, for good.
    LeftOut {
        /// Who.
        who: WorkerNo,
    },
    /// An update of finite values would make the model infinite: the training cannot go on.
    Overflow {
        /// The version that it would have made.
        version: u64,
        /// Whose update, and which value.
        overflow: Overflow,
    },
}

/// Updates that were applied together.
#[derive(Debug, Clone, PartialEq)]
pub struct Applied {
    /// The version that the model has now.
    pub version: u64,
    /// Which, in the order in which they were.
    pub updates: Vec<Update>,
}

/// What became of an update that has arrived whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// Whether it is held, or counted as one that is refused; else no permission stands behind it.
    pub is_taken: bool,
    /// What is wrong with its values, if something is.
    pub refusal: Option<Refusal>,
}

/// What has to be kept of a server, so that another one goes on from there.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// The model's version.
    pub version: u64,
    /// By participant, its updates that were applied or discarded.
    pub done: Vec<u64>,
    /// By participant, whether it took part.
    pub members: Vec<bool>,
    /// The model's values.
    pub values: Vec<f32>,
}

/// The model, and the order in which participants meet it. Times are since the server's start.
pub trait Sequencer {
    /// A participant takes part from now on; one that does already starts its iteration again.
    fn join(&mut self, who: WorkerNo, now: Duration);

    /// A participant takes no part any more. An update of it that has arrived is applied in its turn.
    fn leave(&mut self, who: WorkerNo, now: Duration);

    /// Whether it takes no part.
    fn is_away(&self, who: WorkerNo) -> bool;

    /// Whether it has pulled, and its update has not arrived yet.
    fn is_working(&self, who: WorkerNo) -> bool;

    /// Whether it is left out for its data, for good.
    fn is_left_out(&self, _who: WorkerNo) -> bool {
        false
    }

    /// A participant asks for its next iteration.
    fn request(&mut self, who: WorkerNo, now: Duration);

    /// A participant begins to pull: the version that it gets, unless it may not.
    fn pull(&mut self, who: WorkerNo, now: Duration) -> Option<u64>;

    /// A participant's update has arrived whole; it is of this model's length.
    fn push(&mut self, who: WorkerNo, iteration: u64, values: Vec<f32>, now: Duration) -> Verdict;

    /// Time has gone on.
    fn tick(&mut self, now: Duration);

    /// When [`tick`](Self::tick) is due; `None` if nothing waits for time.
    fn wake_at(&self) -> Option<Duration>;

    /// What was decided, in order.
    fn next_decision(&mut self) -> Option<Decision>;

    /// The model's version.
    fn version(&self) -> u64;

    /// The model's values.
    fn values(&self) -> &[f32];

    /// Whether all that take part have had so many updates applied or discarded; not so of nobody.
    fn have_done(&self, iterations: u64) -> bool;

    /// What another server needs to go on from here.
    fn kept(&self) -> Kept;
}
