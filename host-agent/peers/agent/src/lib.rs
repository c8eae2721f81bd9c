//! A peer of decentralized training, and the coordinator that chooses receivers, as state machines without
//! I/O and without a clock. docs/protocol/peers.md, "Rounds".

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]
#![forbid(unsafe_code)]

mod admission_error;
mod average;
mod coordinator;
mod counters;
mod message;
mod meter;
mod notice;
mod peer;
mod process;
mod select;
mod setup;
mod term;

pub use admission_error::AdmissionError;
pub use average::{Average, Received, average, is_finite};
pub use coordinator::process::{CoordinatorProcess, CoordinatorReport};
pub use coordinator::{Coordinator, CoordinatorOutput, CoordinatorSetup};
pub use counters::{CoordinatorCounters, PeerCounters};
pub use inart_terms::Terms;
pub use message::{
    Body, Choice, Ended, Hello, Message, MessageError, OtherJob, Ready, Remaining, Roster, Sample, Seen,
    decode, encode,
};
pub use notice::Notice;
pub use peer::{Awaited, Output, Peer, Start, UpdateError};
pub use process::{Framing, PeerProcess, PeerReport};
pub use select::{Schemes, Selector};
pub use setup::{Setup, SetupError, Sync};
pub use term::Term;
