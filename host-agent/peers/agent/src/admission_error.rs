//! Why a peer takes no part.

use std::time::Duration;

use inart_wire::Rank;
use thiserror::Error;

/// Why a peer takes no part.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AdmissionError {
    /// There is no coordinator, or it waits for others.
    #[error(
        "no coordinator has admitted peer {rank} within {waited:?}; start one, or, if all others have ended, restart \
         all of them"
    )]
    Nobody {
        /// The peer.
        rank: Rank,
        /// How long it has waited.
        waited: Duration,
    },
    /// Other peers have not ended a round for too long.
    #[error(
        "waited {waited:?} for {peers}, in round {round}: a program there computes or hangs; stop it, or set a \
         longer patience"
    )]
    Others {
        /// The peer that has waited.
        rank: Rank,
        /// The round.
        round: u32,
        /// Names of those that have not ended it.
        peers: String,
        /// How long it has waited.
        waited: Duration,
    },
    /// The coordinator or another peer has another setting.
    #[error("{why}; start both with the same")]
    OtherJob {
        /// The peer.
        rank: Rank,
        /// The setting, and both values.
        why: String,
    },
}
