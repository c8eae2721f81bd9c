//! What happens.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::mpsc;

/// What happens at an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A connection is up. The one before to the same peer, if any, has been told to be down.
    Up {
        /// To whom.
        peer: String,
    },
    /// A connection has ended; its messages fail.
    Down {
        /// To whom.
        peer: String,
        /// Why.
        reason: String,
    },
    /// A message has arrived.
    Received {
        /// From whom.
        peer: String,
        /// The message.
        data: Bytes,
        /// When its first bytes were here.
        started: Instant,
        /// When all were.
        ended: Instant,
    },
    /// A message was taken by the peer's consumer.
    Acknowledged {
        /// The peer.
        peer: String,
        /// The number with which it was sent.
        id: u64,
        /// The connection's round-trip time, smoothed.
        rtt: Duration,
    },
    /// A message was not taken, as far as is known.
    Failed {
        /// The peer.
        peer: String,
        /// The number with which it was sent.
        id: u64,
        /// Why.
        reason: String,
    },
    /// Somebody with a certificate of the authority who is no peer was turned away.
    Stranger {
        /// Where from.
        address: SocketAddr,
        /// The names in the certificate.
        names: Vec<String>,
    },
}

/// The events of an endpoint, in order. What is not taken slows peers down.
#[derive(Debug)]
pub struct Events {
    /// What must not wait: ends of messages and connections. Senders bound it by what they have under way.
    pub(crate) told: mpsc::UnboundedReceiver<Event>,
    pub(crate) received: mpsc::Receiver<Event>,
}

impl Events {
    /// The next event; `None` when the endpoint is closed and all are taken.
    pub async fn next(&mut self) -> Option<Event> {
        tokio::select! {
            biased;
            Some(event) = self.told.recv() => Some(event),
            Some(event) = self.received.recv() => Some(event),
            else => None,
        }
    }
}
