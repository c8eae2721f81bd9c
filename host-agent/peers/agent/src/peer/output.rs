//! What a peer wants of its owner.

use bytes::Bytes;
use inart_protocol_peers::{Message, Outcome, Receivers};
use inart_wire::Rank;

use crate::admission_error::AdmissionError;
use crate::average::{Average, Received};
use crate::notice::Notice;

/// What the owner has to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Send this message to one peer.
    Send {
        /// To whom.
        to: Rank,
        /// What.
        message: Message,
    },
    /// Send this notice to several peers. It may be lost.
    Notify {
        /// To whom.
        to: Receivers,
        /// What.
        notice: Notice,
    },
    /// Send this to the coordinator, if there is a connection.
    Report(Bytes),
    /// An update is here, whole; each is told once. There is nothing to do.
    Received(Received),
    /// Compute an update: [`Peer::computed`](super::Peer::computed) takes it.
    Compute(Start),
    /// A multicast is over.
    Ended {
        /// How; each of its receivers is named.
        outcome: Outcome,
        /// Whether no choice came, and the receivers were the last ones.
        rounds_with_previous_receivers: bool,
    },
    /// The last round is over.
    Finished(Start),
    /// It takes no part, for ever.
    Rejected(AdmissionError),
}

/// Where a round begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    /// Which; after the last round, the one that there is not.
    pub round: u32,
    /// The model to go on from. `None`: the one that the peer has from before it took part.
    pub average: Option<Average>,
    /// Updates that were begun, and did not come whole: whose, and of which round.
    pub lacking: Vec<(Rank, u32)>,
}
