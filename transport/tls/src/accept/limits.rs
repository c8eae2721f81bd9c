//! Limits of a server's connections.

use std::time::Duration;

/// Limits of the number and duration of a server's connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Handshakes at a time; each holds one file.
    pub handshakes: usize,
    /// From the connection's first packet to the end of its handshake.
    pub handshake_time: Duration,
    /// Connections at a time after their handshakes; each holds one file.
    pub connections: usize,
    /// Longest silence of a connection before it is closed. Live clients answer HTTP/2 pings.
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
