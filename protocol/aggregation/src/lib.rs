//! State machines of the INART protocol, without I/O and clock: time is an argument, and frames are bytes, so
//! that host agents and simulations share the code.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod assignment;
pub mod audit;
pub mod completion_rule;
mod counters;
pub mod exact_sum;
mod failure;
mod migration;
mod pacer;
mod peer_timeout;
mod rtt;
pub mod scale;
mod server;
mod split;
mod state_machine;
mod status;
mod time;
mod timer;
mod waiting;
mod worker;
#[cfg(test)]
mod wrap_tests;

pub use assignment::{Assignment, AssignmentError, ShardAssignment, WorkerAddress};
pub use counters::{ServerCounters, WorkerCounters};
pub use failure::Failure;
pub use migration::{MigrationProgress, MigrationStep, RerouteError};
pub use peer_timeout::{
    DEFAULT_PEER_TIMEOUT, KEEPALIVES_PER_PEER_TIMEOUT, LONGEST_FIRST_INTERVAL, LONGEST_KEEPALIVE_INTERVAL,
    STARTING_PEER_TIMEOUTS,
};
pub use server::ServerShard;
pub use split::{Chunk, Split};
pub use state_machine::StateMachine;
pub use status::{FlowStatus, MissingWorker, OpenChunk, PendingChunk, ServerStatus, WorkerStatus};
pub use time::Instant;
pub use waiting::{AwaitedHost, Waiting};
pub use worker::{NonFinite, Reduced, RoundRecord, TensorId, TensorInput, WorkerFlow};
