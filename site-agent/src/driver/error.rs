//! Why a site cannot go on.

use inart_core::scale::BLOCK_VALUES;
use inart_sites::BeginError;

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
    /// A neighbour with another network or job.
    #[error("site {site} has another network, job or scheme; start all sites with the same files")]
    OtherJob {
        /// Which.
        site: String,
    },
    /// Another site has ended the job.
    #[error("{told}; the job has ended at all sites")]
    Elsewhere {
        /// Which site, and who did what there.
        told: String,
    },
}
