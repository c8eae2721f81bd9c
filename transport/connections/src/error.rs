//! Reasons for which a process cannot go on.

use inart_ethernet::PortError;
use inart_quic::OpenError;
use inart_wire::MacAddr;

/// Reason for which a process cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Its address or its certificates.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Another process without an address.
    #[error("{name} has no address; give {name}={form}")]
    NoAddress {
        /// Its name.
        name: String,
        /// Form of addresses.
        form: &'static str,
    },
    /// An interface that cannot be used.
    #[error(transparent)]
    Interface(#[from] PortError),
    /// An interface that is not Ethernet.
    #[error("interface {interface}: it has no Ethernet address; name another one")]
    NoEthernet {
        /// Its name.
        interface: String,
    },
    /// An Ethernet address that no host can have.
    #[error("{name} at {address}: not the address of a host; give the address of its interface")]
    NoHost {
        /// Process with that address.
        name: String,
        /// The address.
        address: MacAddr,
    },
    /// An Ethernet address of two processes.
    #[error("{name} at {address}: {other} has that address; give each its own")]
    SameAddress {
        /// One of them.
        name: String,
        /// The other one.
        other: String,
        /// The address.
        address: MacAddr,
    },
    /// More workers than frames can name.
    #[error("the job has more than {most} workers, which frames cannot name; use QUIC")]
    TooMany {
        /// Most that they can.
        most: u32,
    },
    /// Another process of its name is connected, and answers.
    #[error("{name}: refused: {reason}")]
    Duplicate {
        /// Its name.
        name: String,
        /// Reason of the other side.
        reason: String,
    },
    /// A process that was stopped.
    #[error("{name} was stopped")]
    Stopped {
        /// Its name.
        name: String,
    },
    /// No runtime.
    #[error("cannot start the network thread: {0}")]
    Runtime(std::io::Error),
    /// The network thread has ended.
    #[error("the network thread has ended; see its log")]
    Gone,
}
