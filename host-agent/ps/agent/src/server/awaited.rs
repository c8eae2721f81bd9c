//! What a server waits for.

use std::fmt;
use std::time::Duration;

/// What a server waits for of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    /// A connection.
    Connection,
    /// The first message on its connection.
    Hello,
    /// The model to arrive there, for this time.
    Pull(Duration),
    /// Its update, which has been computed for this time.
    Update(Duration),
    /// The rest of its update, this time after it began to compute.
    Push(Duration),
}

impl fmt::Display for Awaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Awaited::Connection => write!(f, "is not connected"),
            Awaited::Hello => write!(f, "is connected and has sent nothing"),
            Awaited::Pull(for_) => write!(f, "has been receiving the model for {} s", for_.as_secs()),
            Awaited::Update(for_) => write!(f, "has been computing for {} s", for_.as_secs()),
            Awaited::Push(for_) => {
                write!(f, "has computed, and part of its update is missing after {} s", for_.as_secs())
            }
        }
    }
}
