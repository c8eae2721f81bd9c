//! AF_XDP: frames of one EtherType come in memory of this process, and are sent from it, past most of the
//! kernel.
//!
//! A small program on the interface hands the frames of that EtherType to the socket, before the kernel makes
//! packets of them, and leaves everything else to the kernel: IP works as without it. Where the NIC's driver
//! can, frames are not copied at all. Linux 5.18 or later is needed.

mod bpf;
mod error;
mod program;
mod socket;

pub use error::XdpError;
pub use socket::{MOST_FRAME_BYTES, Written, XdpSocket};
