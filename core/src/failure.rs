//! Why a job ends without its sum.

use alloc::string::String;
use core::time::Duration;

use inart_wire::{AbortReason, ShardId, WorkerId};
use thiserror::Error;

/// Why a job ends without its sum; every host of the job ends with one of these.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum Failure {
    /// This worker's gradient cannot be summed.
    #[error("value {index} of this worker's gradient is {value}: only finite values can be summed")]
    NotFinite {
        /// Index in the gradient.
        index: usize,
        /// What is there.
        value: f32,
    },
    /// The gradient changed its length from one round to the next.
    #[error("a gradient of {seen} values after one of {expected}: all rounds of a job have the same length")]
    LengthChanged {
        /// Values in this round.
        seen: usize,
        /// Values in the first round.
        expected: usize,
    },
    /// A worker made the job end.
    #[error("the job was given up: worker {culprit} ({name}) {reason}")]
    Aborted {
        /// Its rank.
        culprit: WorkerId,
        /// Its name.
        name: String,
        /// What it did.
        reason: AbortReason,
    },
    /// A parameter server does not answer.
    #[error("nothing heard from parameter server {server} (shard {shard}) for {} s", patience.as_secs_f64())]
    ServerSilent {
        /// Its shard.
        shard: ShardId,
        /// Its name.
        server: String,
        /// How long this worker waited.
        patience: Duration,
    },
}
