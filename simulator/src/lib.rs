//! The real code in virtual time: `inart-core`'s workers and servers and the compiled P4 program with the controller's
//! tables, on an event queue, with links that have rate, delay and queue, and with faults drawn from a seed.
//!
//! [`Network::install`] puts plans on a topology, [`simulate`] runs jobs on it and compares every sum bit for bit with what
//! the workers put in. The same arguments give the same run, event for event. No clock, no I/O.

mod agenda;
mod bound;
pub mod campaign;
mod channel;
mod dataplane;
mod error;
mod events;
mod excuses;
mod forge;
pub mod gradients;
mod host;
mod log;
mod network;
mod options;
mod pool;
mod record;
mod report;
mod rerun;
mod rounds;
mod simulation;
mod steps;
mod tally;
mod verdict;
mod wire;

pub use dataplane::Dataplane;
pub use error::Error;
pub use gradients::Adjust;
pub use inart_faults::Faults;
pub use network::Network;
pub use options::{CAPABILITIES, Odd, Options};
pub use report::{JobReport, Report, WorkerEnd};
pub use simulation::simulate;
pub use tally::Tally;
pub use wire::Single;
