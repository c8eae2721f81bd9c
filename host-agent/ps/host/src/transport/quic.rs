//! QUIC connections.

use std::time::Instant;

use bytes::Bytes;
use inart_quic::{Endpoint, Event as QuicEvent, Events};
use tokio::time::sleep_until;

use super::event::{Event, Next};
use crate::connections::Connections;
use crate::error::HostError;
use crate::options::QuicOptions;

/// Longest message: a chunk has 16 KiB and a head, and greetings are shorter than this.
const MOST_BYTES: u64 = 1 << 20;

/// Connections to all others.
pub(crate) struct Quic {
    others: Vec<String>,
    endpoint: Endpoint,
    events: Events,
    ended: u64,
}

impl Quic {
    /// Listens, and begins to connect.
    ///
    /// # Errors
    /// An address that cannot be had, or certificates; one of the others that has no address.
    pub fn open(me: &str, others: &[String], options: QuicOptions) -> Result<Self, HostError> {
        if let Some(lacking) = others.iter().find(|other| !options.peers.contains_key(*other)) {
            return Err(HostError::NoAddress { name: lacking.clone(), form: "HOST:PORT" });
        }
        let mut quic = inart_quic::Options::new(options.listen, options.tls, me, options.peers);
        quic.congestion = options.congestion;
        quic.most_bytes = MOST_BYTES;
        let (endpoint, events) = Endpoint::open(quic)?;
        Ok(Quic { others: others.to_vec(), endpoint, events, ended: 0 })
    }

    pub fn send(&mut self, to: usize, id: u64, data: Bytes, priority: i32) -> bool {
        let Some(name) = self.others.get(to) else { return false };
        let sent = self.endpoint.send(name, id, data, priority);
        sent.inspect_err(|error| tracing::error!("a packet was not sent: {error}")).is_ok()
    }

    pub async fn next(&mut self, until: Instant) -> Next {
        loop {
            let event = tokio::select! {
                event = self.events.next() => event,
                () = sleep_until(until.into()) => return Next::Due,
            };
            match event {
                None => return Next::Closed,
                Some(event) => {
                    if let Some(event) = self.known(event) {
                        return Next::Event(event);
                    }
                }
            }
        }
    }

    /// What the event is, if it concerns one of the others.
    fn known(&mut self, event: QuicEvent) -> Option<Event> {
        let place = |name: &str| self.others.iter().position(|other| other == name);
        match event {
            QuicEvent::Up { peer } => Some(Event::Up { peer: place(&peer)? }),
            QuicEvent::Down { peer, reason } => {
                let peer = place(&peer)?;
                self.ended += 1;
                Some(Event::Down { peer, reason })
            }
            QuicEvent::Received { peer, data, .. } => Some(Event::Received { peer: place(&peer)?, data }),
            QuicEvent::Acknowledged { id, .. } => Some(Event::Ended { id, is_taken: true }),
            QuicEvent::Failed { id, .. } => Some(Event::Ended { id, is_taken: false }),
            QuicEvent::Stranger { address, names } => {
                tracing::warn!("{} at {address} is not in the job", names.join(" or "));
                None
            }
        }
    }

    pub fn trouble(&self, to: usize) -> Option<String> {
        Some(self.endpoint.trouble(self.others.get(to)?)?.to_string())
    }

    pub async fn close(self) -> Connections {
        self.endpoint.close().await;
        let counters = self.endpoint.counters();
        Connections {
            strangers: counters.strangers + counters.refused,
            malformed: counters.too_long,
            ended: self.ended,
            ..Connections::default()
        }
    }
}
