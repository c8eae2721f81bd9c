//! Endpoint of a switch, and access to it.

use std::fmt;
use std::time::Duration;

use inart_tls::Security;

use crate::numbers::PortNumbers;

/// Endpoint of a switch.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// `host:port`, or `unix:/path`.
    pub address: String,
    /// Number of the switch behind the address.
    pub device: u64,
    /// Security of the connection.
    pub security: Security,
    /// Time limit of a connection attempt.
    pub timeout: Duration,
    /// Stated numbers of our ports on the switch. Only target `tofino` uses them.
    pub ports: PortNumbers,
}

impl Endpoint {
    /// Creates an endpoint on this machine, with a time limit of five seconds.
    pub fn local(address: impl Into<String>, device: u64) -> Self {
        Endpoint {
            address: address.into(),
            device,
            security: Security::Local,
            timeout: Duration::from_secs(5),
            ports: PortNumbers::default(),
        }
    }
}

/// Precedence of a controller among those of the same switch: the greatest writes. P4Runtime calls it the
/// election id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Precedence(pub u128);

impl fmt::Display for Precedence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Access of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Read-only access.
    Read,
    /// Write access with this precedence; waits for it, and fails if another controller has a greater one.
    Write(Precedence),
    /// Write access with a precedence that was granted before; fails at once if the switch has seen a
    /// greater one since.
    Resume(Precedence),
}
