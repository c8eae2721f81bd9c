//! Why a process cannot go on.

use inart_sites_agent::{DriverError, InsideError};

/// Why a process cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The connections, or a process that must end for another reason than its training.
    #[error(transparent)]
    Connections(#[from] inart_connections::Error),
    /// The job.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// Terms that no hello can carry.
    #[error(transparent)]
    Terms(#[from] inart_terms::TermsError),
    /// A peer without an address.
    #[error("neighbor {name} of {me} has no address; give {name}=HOST:PORT")]
    NoAddress {
        /// The neighbour.
        name: String,
        /// The site.
        me: String,
    },
    /// An address of somebody that is no neighbour.
    #[error("{name} is not a neighbor of {me}; name one of {known}")]
    NoNeighbour {
        /// As given.
        name: String,
        /// The site.
        me: String,
        /// The neighbours.
        known: String,
    },
    /// The job of the site's workers.
    #[error("inside site {site}: {error}")]
    Inside {
        /// The site.
        site: String,
        /// What has ended it.
        error: Box<inart_host_agent::Error>,
    },
    /// What the site's workers sum is not what the job between sites does.
    #[error("inside site {site}: {error}")]
    Fit {
        /// The site.
        site: String,
        /// How.
        error: InsideError,
    },
    /// A site with workers was restarted.
    #[error(
        "site {site} restarted while the others are in a later round, which its workers cannot join; restart all \
         sites and workers"
    )]
    CameBack {
        /// The site.
        site: String,
    },
    /// The process was told to stop.
    #[error("site {site} was stopped")]
    Stopped {
        /// The site.
        site: String,
    },
}
