//! Reasons for which a peer takes no part.

use std::time::Duration;

use inart_wire::Rank;
use thiserror::Error;

/// Reason for which a peer takes no part.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AdmissionError {
    /// No coordinator is available, or the coordinator waits for others.
    #[error(
        "no coordinator has admitted peer {rank} within {waited:?}; start one, or, if all others have ended, restart \
         all of them"
    )]
    NoCoordinator {
        /// The peer.
        rank: Rank,
        /// How long it has waited.
        waited: Duration,
    },
    /// Other peers have not ended a round in time.
    #[error(
        "waited {waited:?} for {peers}, in round {round}: a program there computes or hangs; stop it, or set a \
         longer patience"
    )]
    Others {
        /// The peer that has waited.
        rank: Rank,
        /// The round.
        round: u32,
        /// Names of the peers that have not ended the round.
        peers: String,
        /// How long it has waited.
        waited: Duration,
    },
    /// The coordinator or another peer has another setting.
    #[error("{why}; start both with the same")]
    OtherJob {
        /// The peer.
        rank: Rank,
        /// Setting, with both values.
        why: String,
    },
}
