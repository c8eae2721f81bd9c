//! Simulation of sites and their scheduler in virtual time, with faults: the processes of `inart site` and
//! `inart scheduler`, on links that follow their traces, fail and recover. Sites are killed and restarted,
//! fail permanently, impersonate others, send duplicates or have other settings; programs hang; a scheduler
//! fails or has another document. Every sum of every site is compared bit for bit with that of all gradients.
//! A training that cannot continue must end at every site with an error that names the cause.
//!
//! [`ideal`] predicts rounds without processes and faults.
//!
//! No clock, no I/O: equal arguments give equal runs.

mod agent;
mod audit;
mod common;
mod error;
mod fault;
mod hostile;
pub mod ideal;
mod links;
mod options;
mod outcome;
mod run;
mod schedulers;
mod stranger;
mod traffic;
mod training;
mod trial;

pub use error::SimulationError;
pub use fault::{CAPABILITIES, Fault, OtherDocument, PlannedFault, Setting, resolve};
pub use options::{Knowledge, Options, Traces};
pub use outcome::{Consequence, Outcome, RoundTime};
pub use run::simulate;
pub use trial::Trial;
