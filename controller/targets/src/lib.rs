//! Kinds of switches, as the controller, the doctor, `inart apply` and the emulator use them.
//!
//! - A [`Target`] is a kind of switch: its ports, their numbers, and its compiled [`Program`].
//! - A [`Program`] has [`inart_tables::Limits`], and opens a [`Session`] with a switch at a [`Endpoint`].
//! - A [`Session`] loads the program, reads and writes tables and counters, and reports when it is lost.
//!
//! A new target is a folder next to [`v1model`], and a line in [`ALL`]. Only such a folder depends on the
//! protocol of a switch, its form of entries, and its port numbers.

mod counters;
mod endpoint;
mod error;
pub mod memory;
mod numbers;
mod port_table;
mod target;
pub mod tofino;
pub mod v1model;

pub use counters::{Counts, PortTraffic, SwitchCounters, Traffic};
pub use endpoint::{Access, Endpoint, Precedence};
pub use error::{ProgramError, SwitchError, SwitchErrors};
pub use memory::{Failpoint, Memory};
pub use numbers::PortNumbers;
pub use port_table::{Fec, FrontPorts, PortSetup, PortStatus, PortTable};
pub use target::{Program, Running, Session, Target, open_all};

/// Targets that a command accepts.
pub const ALL: &[&dyn Target] = &[&v1model::V1Model, &tofino::TOFINO, &tofino::TOFINO2];

/// Default target.
pub const DEFAULT: &dyn Target = &v1model::V1Model;

/// Returns the target of that name.
pub fn named(name: &str) -> Option<&'static dyn Target> {
    ALL.iter().find(|target| target.name() == name).copied()
}
