//! What can go wrong before a message is under way.

use std::net::SocketAddr;

/// Why there is no endpoint.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The address cannot be had.
    #[error(
        "cannot listen at {address} (UDP): {cause}; choose another address or stop the process that uses it"
    )]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        cause: std::io::Error,
    },
    /// The TLS settings cannot be used for QUIC.
    #[error("TLS cannot be set up for QUIC: {reason}")]
    Tls {
        /// What is wrong.
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

/// Why a message is not sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// Nobody of that name.
    #[error("no peer is called {name}; add it with its address")]
    UnknownPeer {
        /// The name.
        name: String,
    },
    /// A message that no peer takes.
    #[error("a message of {bytes} bytes; send at most {most} at once")]
    TooLong {
        /// Its length.
        bytes: u64,
        /// What is allowed.
        most: u64,
    },
}
