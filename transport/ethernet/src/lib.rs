//! Raw Ethernet interfaces: packet sockets, and frames received and sent in batches, many per system call.
//!
//! [`PacketSocket`] is a socket on one interface. [`Receiver`] holds the frames that came last, [`Ring`]
//! those that come in memory that the kernel shares, and [`Queue`] those that wait to be sent. With the
//! feature `xdp` there are AF_XDP sockets, too: module `xdp`; with `tokio`, `Watch` waits for frames.

mod messages;
mod offload;
mod queue;
mod receiver;
mod ring;
mod socket;
#[cfg(feature = "tokio")]
mod watch;
#[cfg(feature = "xdp")]
pub mod xdp;

pub use queue::{Queue, Sent};
pub use receiver::Receiver;
pub use ring::Ring;
pub use socket::{PacketSocket, SocketOptions, has_carrier_at, interface_index, mtu, mtu_at};
#[cfg(feature = "tokio")]
pub use watch::Watch;

/// Frames per system call, at most.
pub const BATCH: usize = 64;
