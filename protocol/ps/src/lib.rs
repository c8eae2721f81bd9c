//! Synchronization at a parameter server: whose turn it is to pull the model, and when an update is applied
//! (R²SP and FL-R²SP; Zhang et al., IEEE Trans. Networking 2025), as state machines without I/O and without a
//! clock.
//!
//! A [`Server`] follows an [`Order`], one of the provided synchronization models or another, and takes
//! requests, pulls and pushes; it decides which workers may pull, and which updates are applied. A [`Worker`]
//! requests, pulls, computes and pushes. A [`GroupServer`] serves groups of clients in the same way.
//! [`Turns`] serve groups whose gradients are summed in the network. Hosts handle the values of models; a
//! [`Store`] keeps them.

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]
#![forbid(unsafe_code)]

mod batches;
mod counters;
mod groups;
mod order;
mod output;
mod pace;
mod part;
mod server;
mod store;
mod sync_model;
mod sync_models;
mod timing;
mod turns;
mod worker;
mod worker_states;

pub use batches::{Batch, BatchRule};
pub use counters::Counters;
pub use groups::{
    Arrival, Client, ClientNo, ClientStep, GroupCounters, GroupError, GroupOptions, GroupOutput, GroupServer,
    OutlierRule, cosine, mean, merge,
};
pub use order::{Order, Spacing};
pub use output::{Output, Update};
pub use part::Part;
pub use server::{Options, PushOutcome, Server, ServerError, Snapshot};
pub use store::{Overflow, Refusal, Store};
pub use sync_model::{SyncModel, SyncModelError, fraction_of, relaxation_of};
pub use sync_models::{Applied, Asp, Blocking, Bsp, R2sp, Safa, Ssp};
pub use timing::Blocked;
pub use turns::{TurnError, TurnOutput, Turns};
pub use worker::{Step, Worker};
pub use worker_states::{WorkerNo, WorkerPhase, WorkerState, WorkerStates};
