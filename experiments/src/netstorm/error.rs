//! What goes wrong in a study.

use inart_overlay::RunError;
use inart_planner::TopologyError;

use super::case::{Case, Network};

/// Why a study has no result.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// A network that was drawn cannot be read.
    #[error("{network:?}, seed {seed}")]
    Network {
        /// Which.
        network: Network,
        /// Its seed.
        seed: u64,
        /// Why.
        source: TopologyError,
    },
    /// A case cannot be run.
    #[error("{case:?}, seed {seed}")]
    Run {
        /// Which.
        case: Box<Case>,
        /// Its seed.
        seed: u64,
        /// Why.
        source: RunError,
    },
}
