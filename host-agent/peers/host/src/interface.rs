//! A peer's interface, where switches make the copies.

use inart_connections::CopyOptions;
use inart_peers_agent::{Framing, Setup};
use inart_protocol_peers::FrameWriter;
use inart_wire::{MacAddr, ValuesPerFrame};

/// Interface of a peer's frames, and the Ethernet addresses of all peers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// Name, such as `eth0`.
    pub name: String,
    /// Ethernet addresses of all peers by rank, including this one's.
    pub addresses: Vec<MacAddr>,
}

impl Interface {
    /// Returns the peer's frame writer, and the settings of the frame transport.
    pub(crate) fn framing(&self, setup: &Setup, values: ValuesPerFrame) -> (Framing, CopyOptions) {
        let own = self.addresses.get(setup.me.index()).copied().unwrap_or(MacAddr([0; 6]));
        let writer = FrameWriter::new(own, MacAddr::results_of(setup.job), values);
        let options = CopyOptions { interface: self.name.clone(), frame_bytes: values.frame_bytes() };
        (Framing::new(writer, self.addresses.clone()), options)
    }
}
