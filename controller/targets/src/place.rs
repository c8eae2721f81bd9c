//! Where a switch is, and as whom to go there.

use std::fmt;
use std::time::Duration;

use inart_tls::Security;

use crate::numbers::PortNumbers;

/// Where a switch is reached.
#[derive(Debug, Clone)]
pub struct Place {
    /// `host:port`, or `unix:/path`.
    pub address: String,
    /// The number of the switch behind that address.
    pub device: u64,
    /// How the connection is protected.
    pub security: Security,
    /// How long connecting may take.
    pub timeout: Duration,
    /// What the switch itself calls our ports, where somebody says so. Only the target `tofino` heeds it.
    pub ports: PortNumbers,
}

impl Place {
    /// A place on this machine; five seconds to connect.
    pub fn local(address: impl Into<String>, device: u64) -> Self {
        Place {
            address: address.into(),
            device,
            security: Security::Local,
            timeout: Duration::from_secs(5),
            ports: PortNumbers::default(),
        }
    }
}

/// What a controller has over others of the same switch: the greatest writes. P4Runtime calls it the election
/// id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Precedence(pub u128);

impl fmt::Display for Precedence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// As whom to open a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// To read only.
    Read,
    /// To write, under this precedence; waits for it, and fails if another controller has a greater one.
    Write(Precedence),
    /// To write, under this precedence, which was granted before: fails at once if the switch has seen a
    /// greater one since.
    Resume(Precedence),
}
