//! Sites and their scheduler in virtual time, with faults: what `inart site` and `inart scheduler` run, on
//! links that follow their traces, die and come back; sites are killed and start again, are gone for good,
//! speak as others, repeat themselves or have other settings; programs hang; a scheduler is gone or has
//! another document. Every sum of every site is compared with that of all gradients, bit for bit. A training
//! that cannot go on has to end at every site by the name of the cause.
//!
//! [`ideal`] predicts rounds without processes and faults.
//!
//! No clock, no I/O: the same arguments give the same run.

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
