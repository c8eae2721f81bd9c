//! Jobs in virtual time: the same state machines that hosts run, on ports that flows share.

mod absence;
mod client_report;
mod clients;
mod clock;
mod error;
mod usage;
mod worker_report;
mod workers;

pub use absence::Absence;
pub use client_report::ClientRun;
pub use clients::{ClientEvent, ClientOptions, Judge, run_clients, run_clients_judged, run_clients_watched};
pub(crate) use clock::duration;
pub use error::RunError;
pub(crate) use worker_report::staleness_of;
pub use worker_report::{Staleness, WorkerRun};
pub use workers::{WorkerEvent, WorkerOptions, run_workers, run_workers_watched};
