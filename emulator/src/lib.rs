//! A whole training job on one machine: a network of namespaces with the topology's rates, embedded switches
//! under P4Runtime, workers and servers that train a real model, and an auditor that checks every sum.
//!
//! [`emulate`] does it all, and [`run_program`] the same with a user's own program as workers. Nothing it
//! makes has a name in the system: namespaces, links, sockets and files are held by file descriptors, and
//! child processes end with their parent, so that the kernel cleans up however the emulation ends, and any
//! number of them can run side by side.

pub mod abort;
mod agents;
mod auditor;
mod capacity;
mod certificates;
mod changing;
pub mod chart;
mod child;
pub mod clock;
mod controller;
mod emulation;
mod error;
pub mod external;
pub mod fault;
pub mod figures;
mod flags;
mod grid;
mod job;
mod last_word;
mod layout;
pub mod machine;
mod measured;
pub mod namespace;
mod news;
mod options;
mod own;
mod panel;
pub mod peers;
mod permission;
pub mod program;
pub mod ps;
pub mod relay;
mod runs;
pub mod scale;
mod scratch;
mod shaping;
pub mod si;
pub mod site;
pub mod sites;
mod supervisor;
mod svg;
mod switches;
mod table;
mod task;
mod testbed;
pub mod timeline;
mod traffic;
pub mod wiring;
#[cfg(test)]
mod wiring_tests;
mod work;

pub use emulation::{Emulation, Progress, emulate, run_program};
pub use error::Error;
pub use measured::Measured;
pub use options::{DEFAULT_SCHEMES, Options};
pub use own::OWN;
pub use testbed::{Testbed, TestbedCounters};
pub use work::{Work, Workload};
