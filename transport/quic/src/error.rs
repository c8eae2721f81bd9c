//! Errors before a message is in flight.

use std::net::SocketAddr;

/// Reason that an endpoint cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The address cannot be had.
    #[error(
        "cannot listen at {address} (UDP): {cause}; choose another address or stop the process that uses it"
    )]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Error of the system.
        cause: std::io::Error,
    },
    /// The TLS settings cannot be used for QUIC.
    #[error("TLS cannot be set up for QUIC: {reason}")]
    Tls {
        /// Problem.
        reason: String,
    },
    /// A name that peers would not find in the certificate.
    #[error(
        "the certificate is not for {name} but for {}; give the certificate of {name}, or the name in it",
        if names.is_empty() { "no DNS name".to_owned() } else { names.join(", ") }
    )]
    NotInCertificate {
        /// The endpoint's name.
        name: String,
        /// The DNS names in the certificate.
        names: Vec<String>,
    },
    /// A peer with the endpoint's own name.
    #[error("peer {name} has this endpoint's own name; leave it out")]
    OwnName {
        /// The name.
        name: String,
    },
}

/// Reason that a message is not sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// Unknown peer.
    #[error("no peer is called {name}; add it with its address")]
    UnknownPeer {
        /// The name.
        name: String,
    },
    /// A message that no peer takes.
    #[error("a message of {bytes} bytes; send at most {most} at once")]
    TooLong {
        /// Length.
        bytes: u64,
        /// Limit in bytes.
        most: u64,
    },
}
