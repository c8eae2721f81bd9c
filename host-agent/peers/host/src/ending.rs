//! What a peer has counted when it ends.

use inart_peers_agent::PeerCounters;
use inart_protocol_peers::{ReceiverCounters, Refused, SenderCounters};

/// What a peer has counted when it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    /// As a state machine.
    pub peer: PeerCounters,
    /// As a sender.
    pub sender: SenderCounters,
    /// As a receiver.
    pub receiver: ReceiverCounters,
    /// What reached neither.
    pub refused: Refused,
    /// What its connections carried.
    pub connections: inart_quic::Counters,
}
