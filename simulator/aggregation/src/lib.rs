//! The real code in virtual time: `inart-protocol-aggregation`'s workers and servers and the compiled P4
//! program with the controller's tables, on an event queue, with links that have rate, delay and queue, and
//! with faults drawn from a seed.
//!
//! [`InstalledNetwork::install`] installs plans on a topology. [`simulate`] runs jobs on it and compares
//! every sum bit for bit with the workers' inputs. Equal arguments give equal runs, event for event. No
//! clock, no I/O.

mod bound;
pub mod campaign;
mod changes;
mod changing;
mod channel;
mod controller;
pub mod controllers;
mod daemon;
mod dataplane;
mod error;
mod event_queue;
mod events;
mod expected_aborts;
mod forge;
mod forwarding;
pub mod gradients;
mod host;
mod installed_network;
mod larger;
mod live;
mod log;
mod observer;
mod onward;
mod options;
mod pool;
mod refusals;
mod report;
mod rerun;
mod resume;
mod rounds;
mod server;
mod simulation;
mod steps;
mod switch_kind;
mod switching;
mod tally;
mod verdict;
mod watch;
mod watching;
mod wire;

pub use changes::Changes;
pub use dataplane::Dataplane;
pub use error::Error;
pub use gradients::Adjust;
pub use inart_planner_aggregation::alternatives;
pub use installed_network::InstalledNetwork;
pub use live::{Double, Interrupt, Live, LiveChange, LiveEvent};
pub use onward::Onward;
pub use options::{CAPABILITIES, OddLength, Options, Skip, Spoilt};
pub use report::{ChangesReport, JobReport, Report, WorkerEnd};
pub use simulation::simulate;
pub use switch_kind::SwitchKind;
pub use tally::Tally;
pub use watch::{Follow, LinkTraffic, Watch, Watched};
pub use wire::SingleFault;
