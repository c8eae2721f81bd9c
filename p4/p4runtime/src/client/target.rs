//! Address of a device, and the client's identity.

use std::fmt;
use std::time::Duration;

use inart_rpc::Device;
use inart_tls::Security;
use tonic::Code;

use crate::p4::v1;

/// Number of a switch behind a P4Runtime server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceId(pub u64);

/// A client's rank in the election of the primary: the greatest wins. Unique among a device's live clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ElectionId(pub u128);

impl fmt::Display for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for ElectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<ElectionId> for v1::Uint128 {
    fn from(id: ElectionId) -> Self {
        Self { high: (id.0 >> 64) as u64, low: id.0 as u64 }
    }
}

impl From<v1::Uint128> for ElectionId {
    fn from(id: v1::Uint128) -> Self {
        Self(u128::from(id.high) << 64 | u128::from(id.low))
    }
}

/// Address and identity of a client.
#[derive(Debug, Clone)]
pub struct Target {
    /// `host:port`, with or without a scheme, or `unix:/path`.
    pub address: String,
    /// Security of the connection.
    pub security: Security,
    /// The device.
    pub device: DeviceId,
    /// The election id to ask for; `None` never becomes primary.
    pub election: Option<ElectionId>,
    /// The role; empty is the default role with access to everything.
    pub role: String,
    /// Time limit of connecting and the first arbitration, and of the answer that shows that the device still
    /// runs.
    pub timeout: Duration,
    /// Time limit of a call, except one that loads a program.
    pub call_timeout: Duration,
}

/// Remedy for a refused call.
fn hint(code: Code) -> &'static str {
    match code {
        Code::Unavailable => " (start the switch or correct the address)",
        Code::PermissionDenied => " (another controller is primary: use a greater election id)",
        Code::Unimplemented => " (the switch does not support this)",
        _ => "",
    }
}

impl Target {
    /// Returns the device, as errors name it.
    pub(super) fn device(&self) -> Device {
        Device {
            service: "P4Runtime",
            address: self.address.clone(),
            security: self.security.clone(),
            number: self.device.0,
            hint,
        }
    }

    /// Creates a plain connection on this machine, the default role, election id 1, five seconds; half a
    /// minute a call.
    pub fn new(address: impl Into<String>, device: DeviceId) -> Self {
        Self {
            address: address.into(),
            security: Security::Local,
            device,
            election: Some(ElectionId(1)),
            role: String::new(),
            timeout: Duration::from_secs(5),
            call_timeout: Duration::from_secs(30),
        }
    }
}
