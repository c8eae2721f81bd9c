//! Events of a transport.

use bytes::Bytes;

use crate::machine::{PeerNo, Seen};

/// Event of a connection.
#[derive(Debug, PartialEq)]
pub enum Event {
    /// A connection is up.
    Up { peer: PeerNo },
    /// A connection has ended.
    Down { peer: PeerNo, reason: String },
    /// A message has arrived.
    Received { peer: PeerNo, data: Bytes, seen: Option<Seen> },
    /// A message has ended: the other side has it, or its outcome is unknown.
    Ended { id: u64, is_taken: bool },
}

/// End of a wait.
#[derive(Debug)]
pub enum Next {
    /// An event.
    Event(Event),
    /// Frames that switches have copied have arrived.
    Copies,
    /// The requested time.
    Due,
    /// The end of all events.
    Closed,
}
