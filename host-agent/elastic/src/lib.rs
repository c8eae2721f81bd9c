//! Hosts of elastic jobs: workers and servers that outlive views. When a host fails, joins or leaves, the
//! others meet at the controller and continue in another view, possibly with other ranks, shares and servers.
//!
//! A training loop loads the newest weights from a peer whenever the workers have changed, and continues:
//!
//! ```no_run
//! # use inart_controller_api::Source;
//! # fn train(controller: Source, rounds: u64) -> Result<(), Box<dyn std::error::Error>> {
//! # fn gradient(weights: &[f32]) -> Vec<f32> { weights.to_vec() }
//! use inart_elastic::{ElasticWorker, Host};
//!
//! let mut weights = vec![0.5f32; 1000];
//! let mut job = ElasticWorker::join(Host::new(controller, "w3", "eth0"))?;
//! job.load(&mut weights)?;
//! while job.rounds() < rounds {
//!     let mut sum = gradient(&weights);
//!     match job.all_reduce(&mut sum) {
//!         Ok(_) => weights.iter_mut().zip(&sum).for_each(|(weight, sum)| *weight -= 0.01 * sum),
//!         Err(error) if error.is_membership() => job.load(&mut weights)?,
//!         Err(error) => return Err(error.into()),
//!     }
//! }
//! job.finish()?;
//! # Ok(())
//! # }
//! ```
//!
//! [`load`](ElasticWorker::load) combines [`accept_membership`](ElasticWorker::accept_membership) and
//! [`broadcast`](ElasticWorker::broadcast) in one call. docs/protocol/elastic.md describes how views start
//! and end.

#![forbid(unsafe_code)]

pub mod digits;
mod error;
mod gate;
mod host;
mod layout;
mod progress;
mod seated;
mod server;
mod view_end;
mod worker;

pub use error::{Error, LeaveReason};
pub use gate::Gate;
pub use host::Host;
pub use layout::Layout;
pub use progress::{NewestState, Progress};
pub use server::{ElasticServer, ServerStopper};
pub use worker::{ElasticWorker, Event, Membership};
