//! Why a site cannot go on.

use inart_protocol_aggregation::scale::BLOCK_VALUES;
use inart_protocol_sites::BeginError;

use crate::state::MOST_STATE_BYTES;

/// Why a site cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DriverError {
    /// A gradient of another length.
    #[error("a gradient of {given} values, and the job's have {expected}; give one value per parameter")]
    Length {
        /// Its values.
        given: usize,
        /// The job's.
        expected: usize,
    },
    /// Chunks given one by one that are not whole blocks.
    #[error(
        "chunk {chunk} of {values} values is not whole blocks of {BLOCK_VALUES} of its tensor; give the job chunks \
         of whole KiB, or whole gradients"
    )]
    Blocks {
        /// Which.
        chunk: usize,
        /// Its values.
        values: usize,
    },
    /// A gradient before the site is ready for it.
    #[error("no round may begin now; wait until the site is ready")]
    NotReady,
    /// A round that cannot begin.
    #[error(transparent)]
    Begin(#[from] BeginError),
    /// A NaN or an infinity: all sites learn it in the same round.
    #[error(
        "round {round}: the gradient of site {site} has a NaN or an infinity; no site applies this round"
    )]
    NotFinite {
        /// The round.
        round: u32,
        /// The least site that has one.
        site: String,
    },
    /// A neighbor with other terms.
    #[error("{difference}; give all sites the same")]
    Differs {
        /// The neighbor.
        site: String,
        /// The term, and both values.
        difference: String,
        /// What other sites that have not begun have to hear; none if the neighbor trains already.
        told: Option<String>,
    },
    /// A training program's state that is too long.
    #[error(
        "site {site}: the training program's state has {bytes} bytes, more than {MOST_STATE_BYTES}; give a \
         shorter state"
    )]
    StateLength {
        /// Which site.
        site: String,
        /// Length of the state, in bytes.
        bytes: u64,
    },
    /// States that differ from their digest.
    #[error("the states that site {site} sends differ from their SHA-256; check the memory of {site}")]
    WrongState {
        /// Which site.
        site: String,
    },
    /// Neighbors that have not connected before the first round.
    #[error(
        "site {site}: no connection to {missing} after {waited_s} s; start all sites, check addresses and \
         certificates, or set a longer meeting patience"
    )]
    NotMet {
        /// This site.
        site: String,
        /// The neighbors.
        missing: String,
        /// Seconds since the start.
        waited_s: u64,
    },
    /// A wait that has lasted too long.
    #[error(
        "site {site}: no progress for {waited_s} s while waiting for {missing}; restart the missing site sooner, \
         or set a longer patience"
    )]
    Patience {
        /// This site.
        site: String,
        /// What it waited for.
        missing: String,
        /// Seconds without progress.
        waited_s: u64,
    },
    /// This site was stopped.
    #[error("site {site} was stopped")]
    Stopped {
        /// This site.
        site: String,
    },
    /// Another site has ended the job.
    #[error("{told}; the job has ended at all sites")]
    Elsewhere {
        /// Which site, and who did what there.
        told: String,
    },
}

impl DriverError {
    /// Returns what the other sites are sent, if the error ends the job at all sites.
    pub fn for_all(&self) -> Option<String> {
        match self {
            DriverError::Elsewhere { told } => Some(told.clone()),
            DriverError::NotFinite { .. }
            | DriverError::StateLength { .. }
            | DriverError::NotMet { .. }
            | DriverError::Patience { .. }
            | DriverError::Stopped { .. } => Some(self.to_string()),
            _ => None,
        }
    }
}
