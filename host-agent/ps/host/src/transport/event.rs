//! What a transport tells.

use bytes::Bytes;

/// What happens to connections. `peer`: the other side, by its place among those that were given.
#[derive(Debug, PartialEq)]
pub(crate) enum Event {
    /// A connection is up.
    Up { peer: usize },
    /// It has ended.
    Down { peer: usize, reason: String },
    /// A packet has arrived.
    Received { peer: usize, data: Bytes },
    /// A packet has ended: the other side has it, or that is not known.
    Ended { id: u64, is_taken: bool },
}

/// What a wait ends with.
#[derive(Debug)]
pub(crate) enum Next {
    /// Something has happened.
    Event(Event),
    /// It is the time that was waited for.
    Due,
    /// Nothing will happen any more.
    Closed,
}
