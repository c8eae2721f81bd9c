//! Why a peer takes no part.

use std::time::Duration;

use inart_wire::Rank;
use thiserror::Error;

/// Why a peer takes no part.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotTakenIn {
    /// There is no coordinator, or it waits for others.
    #[error(
        "no coordinator has taken peer {rank} in for {waited:?}; start one, or, if all others have ended, start \
         all of them anew"
    )]
    Nobody {
        /// The peer.
        rank: Rank,
        /// How long it has waited.
        waited: Duration,
    },
    /// The coordinator has something else in mind.
    #[error(
        "the coordinator has another job in mind than peer {rank}; give both the same network, job, \
         synchronisation, staleness, rule of k, rounds, way of multicast and values per frame"
    )]
    OtherJob {
        /// The peer.
        rank: Rank,
    },
}
