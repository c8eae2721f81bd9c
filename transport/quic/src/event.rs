//! Events of an endpoint.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::mpsc;

use crate::unfinished::Untaken;

/// Event of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Established connection. The previous one to the same peer, if any, has been reported as down.
    Up {
        /// Peer.
        peer: String,
    },
    /// A connection has ended; its messages fail.
    Down {
        /// Peer.
        peer: String,
        /// Reason.
        reason: String,
    },
    /// A message has arrived.
    Received {
        /// Sender.
        peer: String,
        /// The message.
        data: Bytes,
        /// Arrival of the first bytes.
        started: Instant,
        /// Arrival of the last bytes.
        ended: Instant,
    },
    /// A message was taken by the peer's consumer.
    Acknowledged {
        /// The peer.
        peer: String,
        /// The number with which it was sent.
        id: u64,
        /// The length of the message.
        bytes: u64,
        /// Time of the call of [`send`](crate::Endpoint::send).
        started: Instant,
        /// Arrival of the answer.
        ended: Instant,
        /// The connection's round-trip time, smoothed.
        rtt: Duration,
    },
    /// A message was not taken, as far as is known.
    Failed {
        /// The peer.
        peer: String,
        /// The number with which it was sent.
        id: u64,
        /// Reason.
        reason: String,
    },
    /// Rejected connection with a certificate of the authority that is not of a peer.
    Stranger {
        /// Address.
        address: SocketAddr,
        /// The names in the certificate.
        names: Vec<String>,
    },
}

/// Events of an endpoint. Events that are not taken slow peers down. Ends of messages and connections
/// overtake received messages that wait to be taken.
#[derive(Debug)]
pub struct Events {
    /// Events that must not wait: ends of messages and connections. Senders bound them by their messages in
    /// flight. `None` is the last: the endpoint is closed.
    pub(crate) notices: mpsc::UnboundedReceiver<Option<Event>>,
    pub(crate) received: mpsc::Receiver<Event>,
    pub(crate) untaken: Untaken,
}

impl Drop for Events {
    fn drop(&mut self) {
        self.untaken.end();
    }
}

impl Events {
    /// Returns the next event; `None` when the endpoint is closed and all are taken.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            tokio::select! {
                biased;
                Some(notices) = self.notices.recv() => match notices {
                    Some(event) => return Some(event),
                    // Messages that have not arrived by now are dropped; received ones are still delivered.
                    None => {
                        self.notices.close();
                        self.received.close();
                    }
                },
                Some(event) = self.received.recv() => {
                    if let Event::Received { data, .. } = &event {
                        self.untaken.take(data.len());
                    }
                    return Some(event);
                }
                else => return None,
            }
        }
    }
}
