//! Workers and servers: `inart-core`'s state machines around a transport of frames, mostly a raw Ethernet
//! socket.
//!
//! A thread drives a worker's state machine from its making to its end. It sleeps until a frame comes, the
//! state machine's next deadline, a signal, or a tensor to be summed. So tensors are summed while the program
//! computes the next, and peers know that it is there however long that takes. No decision of the protocol is
//! made here.
//!
//! ```no_run
//! # fn rounds(assignment: inart_core::Assignment) -> Result<(), Box<dyn std::error::Error>> {
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
mod batched_port;
mod driver;
mod error;
mod in_process;
mod interface;
mod moves;
mod onward;
mod port;
mod port_error;
mod port_kind;
mod probe;
pub mod report;
mod server;
pub mod status;
mod stop;
mod transport;
mod wait_watch;
mod worker;
#[cfg(feature = "xdp")]
mod xdp_port;

pub use agent::{Options, Stopper};
pub use batched_port::BatchedPort;
pub use error::Error;
pub use in_process::{InProcess, InProcessPort};
pub use moves::{MoveError, Mover};
pub use onward::{OnwardNews, OnwardServer, SumsBack};
pub use port::Port;
pub use port_error::PortError;
pub use port_kind::PortKind;
pub use server::Server;
pub use stop::StopSignal;
pub use transport::{Transport, Wake};
pub use wait_watch::WaitWatch;
pub use worker::{Handle, RoundStats, Worker};
#[cfg(feature = "xdp")]
pub use xdp_port::XdpPort;
