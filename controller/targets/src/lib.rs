//! Kinds of switch: what each is to the controller, the doctor, `inart apply`, and the emulator.
//!
//! - A [`Target`] is a kind of switch: its ports, their numbers, and its compiled [`Program`].
//! - A [`Program`] says how much fits ([`inart_tables::Limits`]) and opens a [`Session`] with a switch at a
//!   [`Place`].
//! - A [`Session`] loads the program, reads and writes tables and counters, and tells when it is lost.
//!
//! A new target is a folder beside [`v1model`], and a line in [`ALL`]. Nothing outside such a folder knows by
//! which protocol a switch is reached, how entries look there, or how its ports are numbered.

mod counters;
mod error;
pub mod memory;
mod numbers;
mod place;
mod port_table;
mod target;
pub mod tofino;
pub mod v1model;

pub use counters::{Counts, PortTraffic, SwitchCounters, Traffic};
pub use error::{ProgramError, SwitchError, SwitchErrors};
pub use memory::{Failpoint, Memory};
pub use numbers::PortNumbers;
pub use place::{Access, Place, Precedence};
pub use port_table::{Fec, FrontPorts, PortSetup, PortStatus, PortTable};
pub use target::{Program, Running, Session, Target, open_all};

/// The targets that a command can be told.
pub const ALL: &[&dyn Target] = &[&v1model::V1Model, &tofino::TOFINO, &tofino::TOFINO2];

/// The target of who says nothing else.
pub const DEFAULT: &dyn Target = &v1model::V1Model;

/// The target of that name.
pub fn named(name: &str) -> Option<&'static dyn Target> {
    ALL.iter().find(|target| target.name() == name).copied()
}
