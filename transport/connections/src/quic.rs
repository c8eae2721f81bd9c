//! QUIC connections, by numbers.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bytes::Bytes;
use inart_quic::{Endpoint, Event as QuicEvent, Events, Trouble};

use crate::counted::Connections;
use crate::error::Error;
use crate::event::{Event, Next};
use crate::machine::{PeerNo, Seen};
use crate::names::Names;
use crate::options::QuicOptions;

/// QUIC connections to others. Names become numbers here.
pub struct Quic {
    names: Vec<String>,
    numbers: BTreeMap<String, PeerNo>,
    endpoint: Endpoint,
    events: Events,
    sample: Option<Duration>,
    ended: u64,
}

impl Quic {
    /// Listens, and starts to connect.
    pub fn open(names: &Names, options: QuicOptions) -> Result<Self, Error> {
        let mut quic = inart_quic::Options::new(options.listen, options.tls, &names.me, options.peers);
        quic.congestion = options.congestion;
        quic.most_bytes = options.most_bytes;
        quic.held_bytes = options.held_bytes.unwrap_or(quic.held_bytes);
        let (endpoint, events) = Endpoint::open(quic)?;
        let numbers = (0..).map(PeerNo).zip(&names.all).map(|(number, name)| (name.clone(), number));
        let (numbers, names) = (numbers.collect(), names.all.clone());
        Ok(Quic { names, numbers, endpoint, events, sample: options.sample, ended: 0 })
    }

    fn name(&self, peer: PeerNo) -> &str {
        self.names.get(peer.index()).map_or("", String::as_str)
    }

    pub fn send(&mut self, to: PeerNo, id: u64, data: Bytes, priority: i32) -> bool {
        let sent = self.endpoint.send(self.name(to), id, data, priority);
        sent.inspect_err(|error| tracing::error!("a message was not sent: {error}")).is_ok()
    }

    pub async fn next(&mut self, until: Instant) -> Next {
        tokio::time::timeout_at(until.into(), self.next_event()).await.unwrap_or(Next::Due)
    }

    /// Waits for the next event. Cancel safe: no event is lost.
    pub async fn next_event(&mut self) -> Next {
        loop {
            let Some(event) = self.events.next().await else { return Next::Closed };
            if let Some(event) = self.known(event) {
                return Next::Event(event);
            }
        }
    }

    /// Returns the event with numbers, if its process has one.
    fn known(&mut self, event: QuicEvent) -> Option<Event> {
        let number = |name: &str| self.numbers.get(name).copied();
        match event {
            QuicEvent::Up { peer } => Some(Event::Up { peer: number(&peer)? }),
            QuicEvent::Down { peer, reason } => {
                let peer = number(&peer)?;
                self.ended += 1;
                Some(Event::Down { peer, reason })
            }
            QuicEvent::Received { peer: name, data, .. } => {
                let peer = number(&name)?;
                let measured = self.sample.and_then(|enough| self.endpoint.measured(&name, enough));
                let seen = measured.map(|(bits, seconds)| Seen { bits, seconds });
                Some(Event::Received { peer, data, seen })
            }
            QuicEvent::Acknowledged { id, .. } => Some(Event::Ended { id, is_taken: true }),
            QuicEvent::Failed { id, .. } => Some(Event::Ended { id, is_taken: false }),
            QuicEvent::Stranger { address, names } => {
                tracing::warn!("{} at {address} is not in the job", names.join(" or "));
                None
            }
        }
    }

    pub fn trouble(&self, peer: PeerNo) -> Option<Trouble> {
        self.endpoint.trouble(self.names.get(peer.index())?)
    }

    pub async fn close(self) -> Connections {
        self.endpoint.close().await;
        let counters = self.endpoint.counters();
        Connections {
            unknown_senders: counters.unknown_senders + counters.refused,
            malformed: counters.too_long,
            ended: self.ended,
            quic: counters,
            ..Connections::default()
        }
    }
}
