//! All-reduce between data centers, as state machines without I/O and without a clock: handling of the chunks
//! of a round at a site, along several trees at once (NETSTORM, Sections IV and V).
//!
//! A [`Site`] adds the sums from its children in a chunk's tree to its own gradient, and sends the sum to its
//! parent. The root's sum is complete; it is broadcast down the same tree. The machine returns the chunks to
//! send; its owner reports arrivals and completed transfers.

mod awaited;
mod begin_error;
mod choice;
mod counters;
mod early;
mod offers;
mod outbox;
mod policy;
mod repair;
mod site;
mod summand;
mod transfer;

pub use begin_error::BeginError;
pub use choice::{AuxiliaryChoice, AuxiliaryUse, Sending};
pub use counters::Counters;
pub use offers::{MOST_NAMED, MOST_OFFERS};
pub use policy::{ChunkNo, PolicyError, SiteNo, TransmissionPolicy, Tree, TreeNo};
pub use site::Site;
pub use summand::Summand;
pub use transfer::{Ask, ChunkTransfer, Direction, Output};
