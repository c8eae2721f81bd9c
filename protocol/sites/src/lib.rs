//! All-reduce between data centres, as state machines without I/O and without a clock: what a site does with
//! the chunks of a round, along several trees at once (NETSTORM, Sections IV and V).
//!
//! A [`Site`] adds what its children in a chunk's tree send to its own gradient and sends the sum to its
//! parent. The root's sum is complete; it goes down the same tree. The machine says what to send where, and
//! is told what arrived and what has left.

mod awaited;
mod begin_error;
mod choice;
mod counters;
mod early;
mod offers;
mod outbox;
mod parcel;
mod policy;
mod repair;
mod site;
mod summand;

pub use begin_error::BeginError;
pub use choice::{AuxiliaryChoice, AuxiliaryUse, Sending};
pub use counters::Counters;
pub use offers::{MOST_NAMED, MOST_OFFERS};
pub use parcel::{Ask, Output, Parcel, Way};
pub use policy::{ChunkNo, PolicyError, SiteNo, TransmissionPolicy, Tree, TreeNo};
pub use site::Site;
pub use summand::Summand;
