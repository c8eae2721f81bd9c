//! QUIC connections between sites: two per pair, one for each direction, with mutual TLS and a stream for
//! every message, so that a late message does not delay others.
//!
//! A sent message ends in exactly one [`Event::Acknowledged`] or [`Event::Failed`]. A failed message may have
//! arrived, if the connection ended before the answer: a repeat may deliver it twice, and no message is lost
//! without a report.

mod admission;
mod congestion;
mod connection;
mod dial;
mod endpoint;
mod error;
mod event;
mod meter;
mod options;
mod pair;
mod refusal;
mod shared;
mod stream_error;
mod streams;
mod trouble;
mod unfinished;
mod warnings;

pub use connection::{is_regular_end, names_another_process};
pub use endpoint::Endpoint;
pub use error::{OpenError, SendError};
pub use event::{Event, Events};
pub use options::{Congestion, Options, URGENT};
pub use shared::Counters;
pub use trouble::Trouble;

/// Protocol of both sides (ALPN).
pub const PROTOCOL: &str = "inart-sites/4";
