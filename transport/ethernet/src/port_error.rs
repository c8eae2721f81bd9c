//! Errors of an interface.

use std::io;

/// Reason that an interface cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PortError {
    /// Interface that does not exist.
    #[error("interface {name} does not exist; name one of {present}")]
    NoSuchInterface {
        /// Requested name.
        name: String,
        /// Names of those that exist.
        present: String,
    },
    /// Interface that is down.
    #[error("interface {0}: it is down; bring it up with `ip link set {0} up`")]
    Down(String),
    /// Interface that was removed after it had been opened.
    #[error("interface {0}: it was removed while it was in use; start the job again when there is one")]
    Removed(String),
    /// The job's frames do not fit.
    #[error(
        "interface {name}: frames of {frame_bytes} bytes do not fit its MTU of {mtu}; set one of {needed} or \
         more with `ip link set {name} mtu {needed}`, or plan with fewer values per frame"
    )]
    SmallMtu {
        /// The interface.
        name: String,
        /// The most bytes that it sends at once after the Ethernet header.
        mtu: usize,
        /// The length of the job's frames.
        frame_bytes: usize,
        /// The MTU that they take.
        needed: usize,
    },
    /// The job's frames do not fit the memory of an AF_XDP socket.
    #[cfg(feature = "xdp")]
    #[error(
        "interface {name}: frames of {frame_bytes} bytes do not fit AF_XDP's buffers of {most}; plan with fewer \
         values per frame, or use another kind of port"
    )]
    XdpFrame {
        /// The interface.
        name: String,
        /// The length of the job's frames.
        frame_bytes: usize,
        /// The longest that fits.
        most: usize,
    },
    /// The process may not use AF_XDP.
    #[cfg(feature = "xdp")]
    #[error("interface {0}: AF_XDP needs root, or the capabilities CAP_NET_RAW, CAP_NET_ADMIN and CAP_BPF")]
    XdpPermission(String),
    /// Another program uses XDP on the interface.
    #[cfg(feature = "xdp")]
    #[error(
        "interface {0}: another program uses XDP on it (`ip link show {0}`); end that one, or use another kind \
         of port"
    )]
    XdpTaken(String),
    /// The kernel refuses to open it for AF_XDP.
    #[cfg(feature = "xdp")]
    #[error("interface {name}: AF_XDP, {source}; Linux 5.18 or later is needed, or use another kind of port")]
    Xdp {
        /// The interface.
        name: String,
        /// Refused operation, and the kernel's reason.
        source: crate::xdp::XdpError,
    },
    /// The process may not open raw sockets.
    #[error("interface {0}: raw Ethernet needs root, or the capability CAP_NET_RAW")]
    Permission(String),
    /// The operating system refuses.
    #[error("interface {name}: {source}")]
    System {
        /// The interface.
        name: String,
        /// Error of the system.
        source: io::Error,
    },
}
