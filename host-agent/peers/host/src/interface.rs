//! A peer's interface, where switches make the copies.

use inart_connections::CopyOptions;
use inart_peers_agent::{Framing, Setup};
use inart_protocol_peers::FrameWriter;
use inart_wire::{MacAddr, ValuesPerFrame};

/// The interface by which a peer's frames leave and arrive, and where the others' are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// Its name, such as `eth0`.
    pub name: String,
    /// The Ethernet addresses of all peers, by rank, this one's with them.
    pub addresses: Vec<MacAddr>,
}

impl Interface {
    /// Returns how a peer writes frames, and the settings of their transport.
    pub(crate) fn framing(&self, setup: &Setup, values: ValuesPerFrame) -> (Framing, CopyOptions) {
        let own = self.addresses.get(setup.me.index()).copied().unwrap_or(MacAddr([0; 6]));
        let writer = FrameWriter::new(own, MacAddr::results_of(setup.job), values);
        let options = CopyOptions { interface: self.name.clone(), frame_bytes: values.frame_bytes() };
        (Framing::new(writer, self.addresses.clone()), options)
    }
}
