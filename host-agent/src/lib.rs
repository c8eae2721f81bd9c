//! Worker and server processes: `inart-core`'s state machines around a raw Ethernet socket.
//!
//! A round runs in the thread that calls it, which sleeps in `ppoll` until a frame comes, the state machine's next deadline, or a
//! signal. Between rounds another thread drives the worker's state machine, so that its peers know that it is there however long
//! the next gradient takes to compute. No decision of the protocol is made here.
//!
//! ```no_run
//! # fn rounds(assignment: inart_core::Assignment) -> Result<(), Box<dyn std::error::Error>> {
//! use inart_host_agent::Worker;
//!
//! let mut worker = Worker::new(assignment, 0u16.try_into()?, "eth0")?;
//! let mut gradient = vec![0.25f32; 1000];
//! worker.all_reduce(&mut gradient)?; // now the sum over all workers
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod agent;
mod error;
mod keeper;
mod port;
pub mod report;
mod server;
pub mod status;
mod stop;
mod worker;

pub use agent::Options;
pub use error::Error;
pub use port::{Port, PortError};
pub use server::Server;
pub use stop::StopSignal;
pub use worker::{RoundStats, Worker};
