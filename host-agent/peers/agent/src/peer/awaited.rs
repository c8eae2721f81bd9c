//! For whom a peer waits.

use inart_wire::Rank;

/// For whom a peer waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Awaited {
    /// For a coordinator's word, and whether there is a connection to one.
    Coordinator {
        /// Whether there is a connection.
        is_connected: bool,
    },
    /// For peers that have not ended a round.
    Round {
        /// The round.
        round: u32,
        /// Those peers.
        peers: Vec<Rank>,
    },
    /// For receivers that do not have this peer's update.
    Receivers {
        /// The round.
        round: u32,
        /// Those receivers.
        peers: Vec<Rank>,
    },
}
