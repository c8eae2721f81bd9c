//! Processes of decentralized training: a peer, `inart_peers_agent::Peer` behind a trait that a training
//! program implements; and the coordinator's process. Hosts make the copies of an update, one message per
//! chunk and receiver on QUIC connections; or switches do, of one frame per chunk on an interface.
//!
//! ```no_run
//! # fn run(peer: inart_peers_host::PeerHost) -> Result<(), Box<dyn std::error::Error>> {
//! use inart_peers_host::{Start, Training};
//!
//! struct Model {
//!     weights: Vec<f32>,
//! }
//!
//! impl Training for Model {
//!     fn compute(&mut self, start: &Start) -> Vec<f32> {
//!         if let Some(average) = &start.average {
//!             self.weights.clone_from(&average.values);
//!         }
//!         self.weights.iter_mut().for_each(|weight| *weight *= 0.99); // a step of one's own
//!         self.weights.clone()
//!     }
//!
//!     fn finish(&mut self, start: &Start) {
//!         if let Some(average) = &start.average {
//!             self.weights.clone_from(&average.values);
//!         }
//!     }
//! }
//!
//! peer.run(&mut Model { weights: vec![0.5; 1000] })?;
//! # Ok(())
//! # }
//! ```

mod coordinator;
mod ending;
mod error;
mod interface;
mod job;
mod names;
mod options;
mod peer;
mod peer_side;
mod status;
mod training;

pub use coordinator::{CoordinatorEvent, CoordinatorHost};
pub use ending::Ending;
pub use error::HostError;
pub use inart_peers_agent::Start;
pub use interface::Interface;
pub use job::{CHUNK_VALUES, CopiedBy, Job, JobError, Schedule};
pub use options::{HostOptions, Patience};
pub use peer::{PeerHost, PeerStopper};
pub use training::Training;

/// Application protocol of peers and coordinators (ALPN).
pub const PROTOCOL: &str = "inart-peers/1";
