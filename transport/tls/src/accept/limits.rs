//! How many connections a server holds.

use std::time::Duration;

/// How many connections a server holds, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Handshakes at a time; each holds one file.
    pub handshakes: usize,
    /// From the connection's first packet to the end of its handshake.
    pub handshake_time: Duration,
    /// Connections at a time after their handshakes; each holds one file.
    pub connections: usize,
    /// A connection from which no byte arrives for this long is closed. Live clients answer HTTP/2 pings.
    pub silence: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            handshakes: 128,
            handshake_time: Duration::from_secs(8),
            connections: 256,
            silence: Duration::from_secs(60),
        }
    }
}
