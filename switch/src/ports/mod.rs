//! Delivers frames to and from a switch: raw packet sockets, and pcap files.
//!
//! [`start`] runs a switch on network interfaces in a thread of its own. In a process without
//! interfaces, call [`crate::Switch::process`] with a sink instead.

mod options;
mod pcap;
mod runner;

pub use options::{Options, PortError};
pub use pcap::{PcapError, replay};
pub use runner::{Event, Handle, PortStatistics, start};
