//! A parameter server and the participants around it: networks with training jobs, and their runs in virtual
//! time (R²SP and FL-R²SP). Workers may meet the server in groups whose gradients switches add up
//! ([`Racks`]).
//!
//! The state machines are those of the crate `order`, which hosts run, too. A transfer is fluid, and each
//! direction of a port is by itself: a flow has the lesser of its participant's rate and the server's over
//! the number of flows. Pure functions without I/O and without a clock.

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]
#![forbid(unsafe_code)]

mod racks;
mod run;

pub use inart_topologies::ps::{Cluster, Job, Kind, Nic, Participant, Time};
pub use racks::{
    Choice, Considered, Group, GroupRun, RackError, RackEvent, RackOptions, RackRun, Racks, candidate_racks,
    choose_racks, divide, racks_of, run_racks, run_racks_watched,
};
pub use run::{
    Absence, ClientEvent, ClientOptions, ClientRun, Judge, RunError, Staleness, WorkerEvent, WorkerOptions,
    WorkerRun, run_clients, run_clients_judged, run_clients_watched, run_workers, run_workers_watched,
};
