//! Parties that a server waits for.

use std::fmt;
use std::time::Duration;

/// Awaited step of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    /// Connection.
    Connection,
    /// First message on the connection.
    Hello,
    /// Arrival of the model at the worker, awaited for this time.
    Pull(Duration),
    /// Update, in computation for this time.
    Update(Duration),
    /// Rest of the update, this time after the start of the computation.
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
