//! Errors of a site.

use inart_protocol_aggregation::scale::BLOCK_VALUES;
use inart_protocol_sites::BeginError;

use crate::state::MOST_STATE_BYTES;

/// Error that stops a site.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DriverError {
    /// Gradient of the wrong length.
    #[error("a gradient of {given} values, and the job's have {expected}; give one value per parameter")]
    Length {
        /// Number of values of the gradient.
        given: usize,
        /// Number of values of the job.
        expected: usize,
    },
    /// Chunks given one by one that are not whole blocks.
    #[error(
        "chunk {chunk} of {values} values is not whole blocks of {BLOCK_VALUES} of its tensor; give the job chunks \
         of whole KiB, or whole gradients"
    )]
    Blocks {
        /// Number of the chunk.
        chunk: usize,
        /// Number of its values.
        values: usize,
    },
    /// Gradient before the site is ready for it.
    #[error("no round may begin now; wait until the site is ready")]
    NotReady,
    /// Round that cannot start.
    #[error(transparent)]
    Begin(#[from] BeginError),
    /// NaN or infinity in a gradient: all sites learn of it in the same round.
    #[error(
        "round {round}: the gradient of site {site} has a NaN or an infinity; no site applies this round"
    )]
    NotFinite {
        /// The round.
        round: u32,
        /// Lowest-numbered site with such a value.
        site: String,
    },
    /// Neighbor with other terms.
    #[error("{difference}; give all sites the same")]
    Differs {
        /// The neighbor.
        site: String,
        /// Term with both values.
        difference: String,
        /// Reason for other sites that have not started; `None` if the neighbor is already training.
        reason: Option<String>,
    },
    /// Training state that is too long.
    #[error(
        "site {site}: the training program's state has {bytes} bytes, more than {MOST_STATE_BYTES}; give a \
         shorter state"
    )]
    StateLength {
        /// The site.
        site: String,
        /// Length of the state, in bytes.
        bytes: u64,
    },
    /// States that differ from their digest.
    #[error("the states that site {site} sends differ from their SHA-256; check the memory of {site}")]
    WrongState {
        /// The site.
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
    /// Wait that exceeded the patience.
    #[error(
        "site {site}: no progress for {waited_s} s while waiting for {missing}; restart the missing site sooner, \
         or set a longer patience"
    )]
    Patience {
        /// This site.
        site: String,
        /// Sites or messages that this site waited for.
        missing: String,
        /// Seconds without progress.
        waited_s: u64,
    },
    /// Stop of this site.
    #[error("site {site} was stopped")]
    Stopped {
        /// This site.
        site: String,
    },
    /// End of the job by another site.
    #[error("{reason}; the job has ended at all sites")]
    Elsewhere {
        /// Failed site and reason.
        reason: String,
    },
}

impl DriverError {
    /// Returns the reason for other sites, if the error ends the job at all sites.
    pub fn for_all(&self) -> Option<String> {
        match self {
            DriverError::Elsewhere { reason } => Some(reason.clone()),
            DriverError::NotFinite { .. }
            | DriverError::StateLength { .. }
            | DriverError::NotMet { .. }
            | DriverError::Patience { .. }
            | DriverError::Stopped { .. } => Some(self.to_string()),
            _ => None,
        }
    }
}
