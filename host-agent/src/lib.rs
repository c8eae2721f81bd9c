//! Workers and servers: `inart-protocol-aggregation`'s state machines around a transport of frames, mostly a
//! raw Ethernet socket.
//!
//! A thread drives a worker's state machine until it is dropped. The thread sleeps until a frame arrives, the
//! state machine's next deadline, a signal, or a tensor to be summed. So tensors are summed while the program
//! computes the next, and peers know that the worker is alive during long computations. No decision of the
//! protocol is made here.
//!
//! ```no_run
//! # use inart_protocol_aggregation::Assignment;
//! # fn rounds(assignment: Assignment) -> Result<(), Box<dyn std::error::Error>> {
//! use inart_host_agent::Worker;
//!
//! let mut worker = Worker::new(assignment, 0u16.try_into()?, "eth0")?;
//! let mut gradient = vec![0.25f32; 1000];
//! worker.all_reduce(&mut gradient)?; // now the sum over all workers
//!
//! let (mut one, mut other) = (vec![1.0f32; 500], vec![2.0f32; 700]);
//! let handles = [worker.start(&mut one[..])?, worker.start(&mut other[..])?];
//! for handle in handles {
//!     worker.wait(handle)?;
//! }
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod agent;
mod driver;
mod error;
mod migration;
mod onward;
mod probe;
pub mod report;
mod server;
pub mod status;
mod stop;
mod worker;

pub use agent::{Options, Stopper};
pub use error::Error;
#[cfg(feature = "xdp")]
pub use inart_ethernet::XdpPort;
pub use inart_ethernet::{BatchedPort, InProcess, InProcessPort, Port, PortError, PortKind, Transport, Wake};
pub use migration::{MigrationError, Migrator};
pub use onward::{OnwardEvent, OnwardServer, SumsBack};
pub use server::Server;
pub use stop::StopSignal;
pub use worker::{Handle, RoundStats, Worker};
