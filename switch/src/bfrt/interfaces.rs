//! What ports are in this machine: interfaces.

use crate::control::Port;
use crate::ports::{Handle, PortStatistics};

/// The interfaces of a switch's ports.
pub trait Interfaces: Send + Sync {
    /// The ports that have one.
    fn ports(&self) -> Vec<Port>;

    /// What passed through a port; nothing where there is no interface.
    fn traffic(&self, port: Port) -> PortStatistics;

    /// Whether the interface of a port has a link; `None` if the port has no interface.
    fn has_carrier(&self, port: Port) -> Option<bool>;
}

impl Interfaces for Handle {
    fn ports(&self) -> Vec<Port> {
        self.statistics().into_iter().map(|(port, _)| port).collect()
    }

    fn traffic(&self, port: Port) -> PortStatistics {
        self.traffic_of(port).unwrap_or_default()
    }

    fn has_carrier(&self, port: Port) -> Option<bool> {
        Handle::has_carrier(self, port)
    }
}

/// No port has an interface.
pub(super) struct Nowhere;

impl Interfaces for Nowhere {
    fn ports(&self) -> Vec<Port> {
        Vec::new()
    }

    fn traffic(&self, _: Port) -> PortStatistics {
        PortStatistics::default()
    }

    fn has_carrier(&self, _: Port) -> Option<bool> {
        None
    }
}
