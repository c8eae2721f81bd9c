//! Address of a device, and the client's identity.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use inart_rpc::Device;
use inart_tls::Security;
use tonic::Code;

/// Number of a switch behind a BFRuntime server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceId(pub u32);

/// Id of a client at a server. Unique among the connected clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(pub u32);

impl ClientId {
    /// Returns a random id: the protocol has no way to request a free one.
    pub fn random() -> Self {
        // Seeded by the system, differently for each.
        Self(RandomState::new().hash_one(0u8) as u32)
    }
}

impl fmt::Display for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for ClientId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Address and identity of a client.
#[derive(Debug, Clone)]
pub struct Target {
    /// `host:port`, the same after a scheme, or `unix:/path`.
    pub address: String,
    /// Security of the connection.
    pub security: Security,
    /// The device.
    pub device: DeviceId,
    /// The client's number.
    pub client: ClientId,
    /// Time limit of connecting and the subscription, and of the answer that shows that the device still
    /// runs.
    pub timeout: Duration,
    /// Time limit of a call.
    pub call_timeout: Duration,
}

/// Remedy for a refused call.
fn hint(code: Code) -> &'static str {
    match code {
        Code::Unavailable => " (start the switch, or wait until it has loaded its program)",
        Code::Unimplemented => " (the switch does not support this)",
        _ => "",
    }
}

impl Target {
    /// Returns the device, as errors name it.
    pub(super) fn device(&self) -> Device {
        Device {
            service: "BFRuntime",
            address: self.address.clone(),
            security: self.security.clone(),
            number: self.device.0.into(),
            hint,
        }
    }

    /// Creates a plain connection on this machine, a number of its own; five seconds to connect, two minutes
    /// a call (a chip takes a while to load a program).
    pub fn new(address: impl Into<String>, device: DeviceId) -> Self {
        Self {
            address: address.into(),
            security: Security::Local,
            device,
            client: ClientId::random(),
            timeout: Duration::from_secs(5),
            call_timeout: Duration::from_secs(120),
        }
    }
}
