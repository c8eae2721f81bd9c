//! Final counters of a peer.

use inart_peers_agent::PeerCounters;
use inart_protocol_peers::{ReceiverCounters, Refused, SenderCounters};

/// Final counters of a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    /// Counters of the state machine.
    pub peer: PeerCounters,
    /// Counters of the sender.
    pub sender: SenderCounters,
    /// Counters of the receiver.
    pub receiver: ReceiverCounters,
    /// Refused packets and frames.
    pub refused: Refused,
    /// Counters of the connections.
    pub connections: inart_quic::Counters,
}
