//! A data center's process: `inart_sites_agent`'s driver on QUIC connections, behind calls that a training
//! loop makes; and the scheduler's process.
//!
//! ```no_run
//! # fn train(mut site: inart_sites_host::SiteHost, rounds: u32) -> Result<(), Box<dyn std::error::Error>> {
//! # fn gradient(weights: &[f32]) -> Vec<f32> { weights.to_vec() }
//! # fn bytes(weights: &[f32]) -> bytes::Bytes { weights.iter().flat_map(|w| w.to_le_bytes()).collect() }
//! # fn weights_of(state: &[u8]) -> Vec<f32> { vec![0.0; state.len() / 4] }
//! use inart_sites_host::Next;
//!
//! let mut weights = vec![0.5f32; 1000];
//! let mut next = site.start()?;
//! loop {
//!     next = match next {
//!         Next::Ended { training } => {
//!             weights = weights_of(&training);
//!             break;
//!         }
//!         Next::Round { round, .. } if round > rounds => break,
//!         Next::Round { training, .. } => {
//!             if let Some(state) = training {
//!                 weights = weights_of(&state); // this site has restarted
//!             }
//!             let reduced = site.all_reduce(gradient(&weights), &|| bytes(&weights))?;
//!             if let Some(sum) = &reduced.sum {
//!                 weights.iter_mut().zip(sum).for_each(|(weight, sum)| *weight -= 0.01 * sum);
//!             }
//!             reduced.next
//!         }
//!     };
//! }
//! site.finish(bytes(&weights))?;
//! # Ok(())
//! # }
//! ```

mod ending;
mod error;
mod gateway;
mod missing;
mod next;
mod options;
mod scheduler;
mod site;
mod site_side;
mod status;
mod stopper;
mod workers_inside;

pub use ending::Ending;
pub use error::HostError;
pub use gateway::{GatewayEnding, GatewayRound};
pub use next::Next;
pub use options::HostOptions;
pub use scheduler::{Offered, SchedulerHost};
pub use site::{Reduced, SiteHost};
pub use stopper::Stopper;
