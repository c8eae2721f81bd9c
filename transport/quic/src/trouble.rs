//! A peer without a connection.

use std::fmt;
use std::net::SocketAddr;

/// Address of a peer without a connection, and the reason. Reads as "192.0.2.1:7400: no answer".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// Address.
    pub address: SocketAddr,
    /// Failure of the last attempt to connect, or end of the last connection; `None` before the first.
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
