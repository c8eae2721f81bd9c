//! What happens.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::mpsc;

use crate::unfinished::Untaken;

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
        /// The length of the message.
        bytes: u64,
        /// When it was given to [`send`](crate::Endpoint::send).
        started: Instant,
        /// When the answer was here.
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

/// The events of an endpoint. What is not taken slows peers down. Ends of messages and connections overtake
/// messages that were received and wait to be taken.
#[derive(Debug)]
pub struct Events {
    /// What must not wait: ends of messages and connections. Senders bound it by what they have under way.
    /// `None` is the last: the endpoint is closed.
    pub(crate) told: mpsc::UnboundedReceiver<Option<Event>>,
    pub(crate) received: mpsc::Receiver<Event>,
    pub(crate) untaken: Untaken,
}

impl Drop for Events {
    fn drop(&mut self) {
        self.untaken.end();
    }
}

impl Events {
    /// The next event; `None` when the endpoint is closed and all are taken.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            tokio::select! {
                biased;
                Some(told) = self.told.recv() => match told {
                    Some(event) => return Some(event),
                    // What has not come in by now is not wanted any more; what has, is still taken.
                    None => {
                        self.told.close();
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
