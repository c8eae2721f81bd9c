//! Network interfaces of this machine as ports.

use crate::control::Port;
use crate::ports::{Handle, PortStatistics};

/// The interfaces of a switch's ports.
pub trait Interfaces: Send + Sync {
    /// Returns the ports that have one.
    fn ports(&self) -> Vec<Port>;

    /// Returns the counters of a port; zeros if it has no interface.
    fn traffic(&self, port: Port) -> PortStatistics;

    /// Returns whether the interface of a port has a link; `None` if the port has no interface.
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
