//! Sites and their scheduler in virtual time, with faults: what `inart site` and `inart scheduler` run, on
//! links that follow their traces, die and come back; sites are killed and start again; a scheduler is gone.
//! Every sum of every site is compared with that of all gradients, bit for bit.
//!
//! No clock, no I/O: the same arguments give the same run.

mod audit;
mod connections;
mod error;
mod fault;
mod outcome;
mod traffic;
mod world;

pub use error::SimulationError;
pub use fault::{Fault, PlannedFault, draw, resolve};
pub use outcome::{Consequence, Outcome, RoundTime};
pub use world::{Knowledge, Options, Traces, simulate};
