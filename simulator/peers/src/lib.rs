//! Peers and their coordinator in virtual time: the state machines of `inart peer` and `inart coordinator`,
//! on ports with rates that follow their traces, with delays and losses. Every update is compared word for
//! word at every receiver, and every average with one computed in another way. [`ideal`] predicts trainings
//! without processes.
//!
//! No clock, no I/O: equal arguments give equal runs.

mod agent;
mod audit;
mod error;
mod fabric;
pub mod ideal;
mod links;
mod options;
mod outcome;
mod port;
mod run;
mod setup;
mod tally;
mod training;

pub use error::SimulationError;
pub use options::{Options, Until};
pub use outcome::{Figures, Outcome, Rounds, Stale};
pub use run::simulate;
