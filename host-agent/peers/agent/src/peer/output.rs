//! Actions that a peer requests of its owner.

use bytes::Bytes;
use inart_protocol_peers::{Message, Outcome, Receivers};
use inart_wire::Rank;

use crate::admission_error::AdmissionError;
use crate::average::{Average, Received};
use crate::notice::Notice;

/// Action for the owner.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Sends a message to one peer.
    Send {
        /// Receiver.
        to: Rank,
        /// Message.
        message: Message,
    },
    /// Sends a notice to several peers. It may be lost.
    Notify {
        /// Receivers.
        to: Receivers,
        /// Notice.
        notice: Notice,
    },
    /// Sends a report to the coordinator, if one is connected.
    Report(Bytes),
    /// Reports a complete update, once. The owner need not act.
    Received(Received),
    /// Requests an update: [`Peer::computed`](super::Peer::computed) takes it.
    Compute(Start),
    /// Reports the end of a multicast.
    Ended {
        /// Outcome for each receiver.
        outcome: Outcome,
        /// Whether the previous receivers were used because no choice arrived.
        rounds_with_previous_receivers: bool,
    },
    /// Reports the end of the last round.
    Finished(Start),
    /// Ends the peer: it takes no part.
    Rejected(AdmissionError),
}

/// Start of a round.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    /// Round; after the last round, the one behind it.
    pub round: u32,
    /// Model to start from. `None`: the model that the peer had before it took part.
    pub average: Option<Average>,
    /// Updates that arrived incompletely, each with its sender and round.
    pub lacking: Vec<(Rank, u32)>,
}
