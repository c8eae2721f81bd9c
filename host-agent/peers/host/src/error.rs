//! Why a process cannot go on.

use inart_peers_agent::{AdmissionError, SetupError, Term, UpdateError};

/// Why a process cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The connections, or a process that must end for another reason than its training.
    #[error(transparent)]
    Connections(#[from] inart_connections::Error),
    /// What it was told of the job.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// Somebody without an address.
    #[error("peer {name} has no address at {me}; give {name}=HOST:PORT")]
    NoAddress {
        /// Who has none.
        name: String,
        /// The process.
        me: String,
    },
    /// An address of somebody who is not in the job.
    #[error("{name} is not another peer of job {job}; name one of {known}")]
    NoPeer {
        /// As given.
        name: String,
        /// The job.
        job: String,
        /// The peers.
        known: String,
    },
    /// A coordinator that is called like a peer.
    #[error("coordinator {name} has the name of a peer; give it another one")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// An update that cannot be.
    #[error("peer {name}: {error}")]
    Update {
        /// The peer.
        name: String,
        /// What is wrong with it.
        error: UpdateError,
    },
    /// Nobody trains with it.
    #[error("peer {name}: {error}")]
    Rejected {
        /// The peer.
        name: String,
        /// Why.
        error: AdmissionError,
    },
    /// Another coordinator is in charge.
    #[error("coordinator {name} is not in charge any more: peers follow a newer one ({by})")]
    Superseded {
        /// The coordinator.
        name: String,
        /// The other one's term.
        by: Term,
    },
    /// No peer for too long.
    #[error("coordinator {name}: no peer is connected for {seconds:.0} s; start {}", peers.join(", "))]
    NoPeers {
        /// The coordinator.
        name: String,
        /// For how long.
        seconds: f64,
        /// The peers.
        peers: Vec<String>,
    },
    /// No interface for frames, or one that is of no use.
    #[error("peer {name}: {problem}")]
    Way {
        /// The peer.
        name: String,
        /// The error, and its fix.
        problem: &'static str,
    },
}
