//! Errors of a process.

use inart_sites_agent::{DriverError, InsideError};

/// Error that stops a process.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// Error of the connections, or of a process that must end for another reason than its training.
    #[error(transparent)]
    Connections(#[from] inart_connections::Error),
    /// Error of the job.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// Terms that do not fit in a hello.
    #[error(transparent)]
    Terms(#[from] inart_terms::TermsError),
    /// Neighbor without an address.
    #[error("neighbor {name} of {me} has no address; give {name}=HOST:PORT")]
    NoAddress {
        /// The neighbor.
        name: String,
        /// The site.
        me: String,
    },
    /// Address of a process that is not a neighbor.
    #[error("{name} is not a neighbor of {me}; name one of {known}")]
    NoNeighbor {
        /// Name of the process.
        name: String,
        /// The site.
        me: String,
        /// The neighbors.
        known: String,
    },
    /// Error of the job of the site's workers.
    #[error("inside site {site}: {error}")]
    Inside {
        /// The site.
        site: String,
        /// Cause of the end.
        error: Box<inart_host_agent::Error>,
    },
    /// Mismatch between the workers' tensors and the job between sites.
    #[error("inside site {site}: {error}")]
    Fit {
        /// The site.
        site: String,
        /// The mismatch.
        error: InsideError,
    },
    /// Restart of a site with workers.
    #[error(
        "site {site} restarted while the others are in a later round, which its workers cannot join; restart all \
         sites and workers"
    )]
    CameBack {
        /// The site.
        site: String,
    },
    /// Stop of the process.
    #[error("site {site} was stopped")]
    Stopped {
        /// The site.
        site: String,
    },
}
