//! A whole training job on one machine: a network of namespaces with the topology's rates, embedded switches
//! under P4Runtime, workers and servers that train a real model, and an auditor that checks every sum.
//!
//! [`emulate`] does it all, and [`run_program`] the same with a user's own program as workers. Nothing it
//! makes has a name in the system: namespaces, links, sockets and files are held by file descriptors, and
//! child processes end with their parent, so that the kernel cleans up however the emulation ends, and any
//! number of them can run side by side.

pub mod aggregation;
mod charts;
mod error;
pub mod machine;
mod measured;
pub mod peers;
pub mod ps;
pub mod sites;

pub use aggregation::emulation::{Emulation, Progress, emulate, run_program};
pub use aggregation::options::{DEFAULT_SCHEMES, Options};
pub use aggregation::own::OWN;
pub use aggregation::testbed::{Testbed, TestbedCounters};
pub use aggregation::work::{Work, Workload};
pub use error::Error;
pub use measured::Measured;
