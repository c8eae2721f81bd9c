//! Virtual time: a [`Timeline`] of events, links that carry fluid ([`Links`], [`Port`]), and random numbers
//! that a seed names ([`SplitMix64`]).
//!
//! No I/O and no clock: time is an argument. Model of links: `sync-readings.md`, "Model of a round".

mod fluid;
mod link;
mod port;
mod random;
mod timeline;

pub use fluid::{Event, Links};
pub use link::Sharing;
pub use port::{FlowId, Port};
pub use random::{GAMMA, SplitMix64, mixed};
pub use timeline::{Seconds, Timeline};
