//! Errors that end a process.

use inart_peers_agent::{AdmissionError, SetupError, Term, UpdateError};

/// Error that ends a process.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// Failure of a connection, or a reason other than the training.
    #[error(transparent)]
    Connections(#[from] inart_connections::Error),
    /// Invalid setup.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// Missing address of a peer.
    #[error("peer {name} has no address at {me}; give {name}=HOST:PORT")]
    NoAddress {
        /// Peer without an address.
        name: String,
        /// The process.
        me: String,
    },
    /// Address of a process outside the job.
    #[error("{name} is not another peer of job {job}; name one of {known}")]
    NoPeer {
        /// Given name.
        name: String,
        /// The job.
        job: String,
        /// The peers.
        known: String,
    },
    /// Coordinator with a peer's name.
    #[error("coordinator {name} has the name of a peer; give it another one")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// Invalid update.
    #[error("peer {name}: {error}")]
    Update {
        /// The peer.
        name: String,
        /// Reason.
        error: UpdateError,
    },
    /// No admission to the training.
    #[error("peer {name}: {error}")]
    Rejected {
        /// The peer.
        name: String,
        /// Reason.
        error: AdmissionError,
    },
    /// Another coordinator in charge.
    #[error("coordinator {name} is not in charge any more: peers follow a newer one ({by})")]
    Superseded {
        /// The coordinator.
        name: String,
        /// Term of the other coordinator.
        by: Term,
    },
    /// No connected peer for too long.
    #[error("coordinator {name}: no peer is connected for {seconds:.0} s; start {}", peers.join(", "))]
    NoPeers {
        /// The coordinator.
        name: String,
        /// Time without a peer.
        seconds: f64,
        /// The peers.
        peers: Vec<String>,
    },
    /// Missing or unusable interface for frames.
    #[error("peer {name}: {problem}")]
    Way {
        /// The peer.
        name: String,
        /// Problem and fix.
        problem: &'static str,
    },
}
