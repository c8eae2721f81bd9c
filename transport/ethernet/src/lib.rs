//! Raw Ethernet interfaces: packet sockets, and frames received and sent in batches, many per system call.
//!
//! [`PacketSocket`] is a socket on one interface. [`Receiver`] holds the newest received frames, [`Ring`]
//! receives in memory that the kernel shares, and [`Queue`] holds frames to send. With the feature `xdp`
//! there are AF_XDP sockets, too: module `xdp`; with `tokio`, `Watch` waits for frames.
//!
//! A [`Transport`] carries a host's frames: [`BatchedPort`] and [`Port`] on an interface, [`InProcess`]
//! within one process.

mod batched_port;
mod in_process;
mod interface;
mod messages;
mod offload;
mod port;
mod port_error;
mod port_kind;
mod queue;
mod receiver;
mod ring;
mod socket;
mod transport;
#[cfg(feature = "tokio")]
mod watch;
#[cfg(feature = "xdp")]
pub mod xdp;
#[cfg(feature = "xdp")]
mod xdp_port;

pub use batched_port::BatchedPort;
pub use in_process::{InProcess, InProcessPort};
pub use port::Port;
pub use port_error::PortError;
pub use port_kind::PortKind;
pub use queue::{Queue, Sent};
pub use receiver::Receiver;
pub use ring::Ring;
pub use socket::{PacketSocket, SocketOptions, has_carrier_at, interface_index, mtu, mtu_at};
pub use transport::{Transport, Wake};
#[cfg(feature = "tokio")]
pub use watch::Watch;
#[cfg(feature = "xdp")]
pub use xdp_port::XdpPort;

/// Frames per system call, at most.
pub const BATCH: usize = 64;
