//! Parties that a peer waits for.

use inart_wire::Rank;

/// Parties that a peer waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Awaited {
    /// A coordinator's message.
    Coordinator {
        /// Whether a coordinator is connected.
        is_connected: bool,
    },
    /// Peers that have not ended a round.
    Round {
        /// The round.
        round: u32,
        /// Peers that are awaited.
        peers: Vec<Rank>,
    },
    /// Receivers that lack this peer's update.
    Receivers {
        /// The round.
        round: u32,
        /// Receivers that are awaited.
        peers: Vec<Rank>,
    },
}
