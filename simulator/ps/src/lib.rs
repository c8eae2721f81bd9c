//! Jobs at a parameter server in virtual time (R²SP and FL-R²SP).
//!
//! [`run_workers`], [`run_clients`] and [`run_racks`] predict: the state machines of `inart-protocol-ps`
//! exchange whole models, without losses. A transfer is fluid, and the directions of a port are independent:
//! a flow has the lesser of its participant's rate and the server's over the number of flows. [`run_agents`]
//! runs the agents that hosts run, chunk by chunk, with the faults of a schedule. No clock and no I/O.

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]
#![forbid(unsafe_code)]

mod agents;
mod ideal;
mod racks;
mod statistics;

pub use agents::{
    AgentError, AgentOptions, AgentRun, CAPABILITIES, Either, FaultRecord, MODEL, Sync, Trial, TrialError,
    random_faults, run_agents, run_sequencer, server_options,
};
pub use ideal::{
    Absence, ClientEvent, ClientOptions, ClientRun, Judge, RunError, Staleness, WorkerEvent, WorkerOptions,
    WorkerRun, run_clients, run_clients_judged, run_clients_watched, run_workers, run_workers_watched,
};
pub use racks::{GroupRun, RackEvent, RackOptions, RackRun, RackRunError, run_racks, run_racks_watched};
