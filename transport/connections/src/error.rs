//! Errors that end a process.

use inart_ethernet::PortError;
use inart_quic::OpenError;
use inart_wire::MacAddr;

/// Error that ends a process.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Invalid address or certificates.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Process without an address.
    #[error("{name} has no address; give {name}={form}")]
    NoAddress {
        /// Name of the process.
        name: String,
        /// Form of addresses.
        form: &'static str,
    },
    /// Unusable interface.
    #[error(transparent)]
    Interface(#[from] PortError),
    /// Interface that is not Ethernet.
    #[error("interface {interface}: no Ethernet address; name another one")]
    NoEthernet {
        /// Name of the interface.
        interface: String,
    },
    /// Ethernet address that no host can have.
    #[error("{name} at {address}: not the address of a host; give the address of its interface")]
    NoHost {
        /// Process with that address.
        name: String,
        /// The address.
        address: MacAddr,
    },
    /// Ethernet address of two processes.
    #[error("{name} at {address}: {other} has that address; give each its own")]
    SameAddress {
        /// One of the processes.
        name: String,
        /// Other process.
        other: String,
        /// The address.
        address: MacAddr,
    },
    /// More workers than frames can name.
    #[error("the job has more than {most} workers, which frames cannot name; use QUIC")]
    TooMany {
        /// Most workers that frames can name.
        most: u32,
    },
    /// Another connected process of the same name.
    #[error("{name}: refused: {reason}")]
    Duplicate {
        /// Name of the process.
        name: String,
        /// Reason of the other side.
        reason: String,
    },
    /// Stopped process.
    #[error("{name} was stopped")]
    Stopped {
        /// Name of the process.
        name: String,
    },
    /// Missing runtime.
    #[error("cannot start the network thread: {0}")]
    Runtime(std::io::Error),
    /// End of the network thread.
    #[error("the network thread has ended; see its log")]
    Gone,
}
