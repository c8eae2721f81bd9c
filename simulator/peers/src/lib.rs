//! Peers and their coordinator in virtual time: what `inart peer` and `inart coordinator` run, on ports with
//! rates that follow their traces, delays and losses. Every update is compared word for word at every
//! receiver, and every average with one computed in another way.
//!
//! No clock, no I/O: the same arguments give the same run.

mod audit;
mod error;
mod fabric;
pub mod ideal;
mod options;
mod outcome;
mod port;
mod setup;
mod world;

pub use error::SimulationError;
pub use options::{Options, Until};
pub use outcome::{Figures, Outcome, Rounds, Stale};
pub use world::simulate;
