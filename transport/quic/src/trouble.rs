//! A peer without a connection.

use std::fmt;
use std::net::SocketAddr;

/// Where a peer without a connection is, and why there is none. Reads as "192.0.2.1:7400: no answer".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// Its address.
    pub address: SocketAddr,
    /// How the last attempt to connect has failed, or the last connection has ended; `None` before the first.
    pub cause: Option<String>,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Some(cause) => write!(f, "{}: {cause}", self.address),
            None => write!(f, "{}", self.address),
        }
    }
}
