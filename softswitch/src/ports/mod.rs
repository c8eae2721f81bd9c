//! Brings frames to a switch and away from it: raw packet sockets, and pcap files.
//!
//! [`start`] runs a switch on network interfaces in a thread of its own. In a process without
//! interfaces, call [`crate::Switch::process`] with a sink instead.

mod batch;
mod options;
mod pcap;
mod runner;
mod socket;

/// The batched raw sockets underneath, for others that move frames.
pub mod raw {
    pub use super::batch::{Queue, Receiver, Sent};
    pub use super::socket::{PacketSocket, interface_index};
}

pub use options::{Options, PortError};
pub use pcap::{PcapError, replay};
pub use runner::{Event, Handle, PortStatistics, start};
