//! AF_XDP: frames of one EtherType arrive in memory of this process, and are sent from it, bypassing most of
//! the kernel.
//!
//! A small program on the interface passes the frames of that EtherType to the socket, before the kernel
//! makes packets of them, and leaves all others to the kernel: IP works as without it. If the NIC's driver
//! supports zero copy, frames are not copied at all. Requires Linux 5.18 or later.

mod bpf;
mod error;
mod program;
mod socket;

pub use error::XdpError;
pub use socket::{MOST_FRAME_BYTES, Written, XdpSocket};
