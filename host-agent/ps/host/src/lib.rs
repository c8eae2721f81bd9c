//! Processes of training at a parameter server: a server, `inart_ps_agent::ServerAgent`, and a worker,
//! `inart_ps_agent::WorkerAgent`, on QUIC connections with mutual TLS or, inside one network, on raw
//! Ethernet frames; the worker behind a trait that a training program implements.
//!
//! ```no_run
//! # fn run(worker: inart_ps_host::WorkerHost) -> Result<(), Box<dyn std::error::Error>> {
//! use inart_ps_host::{Start, Training};
//!
//! struct Decay;
//!
//! impl Training for Decay {
//!     fn compute(&mut self, start: &Start) -> Vec<f32> {
//!         start.model.iter().map(|weight| -0.01 * weight).collect() // what is added to the model
//!     }
//! }
//!
//! worker.run(&mut Decay)?;
//! # Ok(())
//! # }
//! ```

mod checkpoint_file;
mod ending;
mod error;
mod job;
mod network;
mod options;
mod server;
mod watch;
mod worker;
mod worker_side;

pub use checkpoint_file::{CHECKPOINT_FORMAT, CheckpointError, CheckpointFile};
pub use ending::Ending;
pub use error::HostError;
pub use inart_connections::{Connections, FrameOptions};
pub use inart_ps_agent::{Start, TrainingCheckpoint};
pub use job::{CHUNK_VALUES, Job};
pub use options::{HostOptions, QuicOptions, ServerOptions};
pub use server::{ServerEvent, ServerHost, new_training};
pub use worker::{Training, WorkerHost, WorkerStopper};

/// Application protocol of servers and workers (ALPN).
pub const PROTOCOL: &str = "inart-order/1";
