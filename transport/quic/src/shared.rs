//! State that the tasks of an endpoint share.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use quinn::ConnectionError;
use tokio::sync::{Notify, Semaphore, mpsc, watch};

use crate::event::Event;
use crate::meter::Meter;
use crate::options::MOST_URGENT;
use crate::pair::{Halves, Pair};
use crate::refusal::Refusal;
use crate::trouble::Trouble;
use crate::unfinished::Untaken;
use crate::warnings::Warnings;

/// Counters of an endpoint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Messages that peers took.
    pub sent: u64,
    /// Messages that were received whole.
    pub received: u64,
    /// Bytes of messages that were read, also of those that wait for the consumer or are not whole.
    pub read_bytes: u64,
    /// Messages that failed.
    pub failed: u64,
    /// Connections with a certificate of the authority that is not of a peer.
    pub unknown_senders: u64,
    /// Connections that ended before they were up: without a certificate, or with one of another authority;
    /// and connections of peers that do not send a label.
    pub refused: u64,
    /// Messages longer than allowed.
    pub too_long: u64,
    /// Messages refused because their peer had too many bytes of unfinished messages.
    pub too_many: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub sent: AtomicU64,
    pub received: AtomicU64,
    pub read_bytes: AtomicU64,
    pub failed: AtomicU64,
    pub unknown_senders: AtomicU64,
    pub refused: AtomicU64,
    pub too_long: AtomicU64,
    pub too_many: AtomicU64,
}

impl Counts {
    pub fn add(counter: &AtomicU64) {
        counter.fetch_add(1, Relaxed);
    }

    pub fn read(&self) -> Counters {
        Counters {
            sent: self.sent.load(Relaxed),
            received: self.received.load(Relaxed),
            read_bytes: self.read_bytes.load(Relaxed),
            failed: self.failed.load(Relaxed),
            unknown_senders: self.unknown_senders.load(Relaxed),
            refused: self.refused.load(Relaxed),
            too_long: self.too_long.load(Relaxed),
            too_many: self.too_many.load(Relaxed),
        }
    }
}

/// A peer, and the connections to it while they are up.
#[derive(Debug)]
pub(crate) struct Peer {
    pub address: SocketAddr,
    pub connection: Option<Pair>,
    pub meter: Meter,
    /// Reasons of the last failed attempts to connect, or of the ends of the last connections.
    pub obstacle: Option<String>,
    /// Places for urgent messages in flight.
    pub urgent: Arc<Semaphore>,
}

impl Peer {
    pub fn new(address: SocketAddr) -> Self {
        let urgent = Arc::new(Semaphore::new(MOST_URGENT));
        Peer { address, connection: None, meter: Meter::default(), obstacle: None, urgent }
    }
}

/// Whether an endpoint is open, and its work in flight.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Open {
    pub is_closed: bool,
    pub messages: u64,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub name: String,
    /// Protocol that both sides must support (ALPN).
    pub protocol: String,
    /// Distinguishes this process from others of its name.
    pub incarnation: u64,
    pub most_bytes: u64,
    pub held_bytes: u64,
    pub untaken: Untaken,
    /// Messages that were sent and have not ended, while it is open.
    pub under_way: watch::Sender<Open>,
    pub peers: Mutex<BTreeMap<String, Peer>>,
    /// Not to be locked while `peers` is wanted.
    pub halves: Mutex<Halves>,
    pub counts: Counts,
    pub warnings: Mutex<Warnings>,
    pub notices: mpsc::UnboundedSender<Option<Event>>,
    pub received: mpsc::Sender<Event>,
    /// Wakes dialling tasks: an address has changed.
    pub changed: Notify,
}

impl Shared {
    pub fn peers(&self) -> MutexGuard<'_, BTreeMap<String, Peer>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn halves(&self) -> MutexGuard<'_, Halves> {
        self.halves.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes of a message have arrived.
    pub fn arrived(&self, peer: &str, bytes: u64) {
        if let Some(entry) = self.peers().get_mut(peer) {
            entry.meter.arrived(bytes, Instant::now());
        }
    }

    /// Notes why there is no connection to a peer.
    pub fn note(&self, peer: &str, obstacle: impl ToString) {
        if let Some(entry) = self.peers().get_mut(peer) {
            entry.obstacle = Some(obstacle.to_string());
        }
    }

    /// Returns why there is no connection to a peer; `None` if there is one, or no such peer.
    pub fn trouble(&self, peer: &str) -> Option<Trouble> {
        let peers = self.peers();
        let entry = peers.get(peer).filter(|entry| entry.connection.is_none())?;
        Some(Trouble { address: entry.address, cause: entry.obstacle.clone() })
    }

    /// Finds TLS's reason in the end of a connection.
    pub fn refusal(&self, error: &ConnectionError) -> Option<String> {
        Some(Refusal::of(error, &self.protocol)?.to_string())
    }

    /// Returns whether a warning about a process is due, with that cause.
    pub fn may_warn(&self, about: &str, cause: &str) -> bool {
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        warnings.is_due(about, cause, Instant::now())
    }

    /// Notes and logs why a peer cannot be connected.
    pub fn warn(&self, peer: &str, address: SocketAddr, cause: String) {
        if self.may_warn(peer, &cause) {
            tracing::warn!("no connection to {peer} ({address}): {cause}");
        }
        self.note(peer, cause);
    }

    /// Returns the peer with that address.
    pub fn peer_at(&self, address: SocketAddr) -> Option<String> {
        let same = |one: SocketAddr| (one.ip().to_canonical(), one.port());
        let peers = self.peers();
        let found = peers.iter().find(|(_, peer)| same(peer.address) == same(address));
        found.map(|(name, _)| name.clone())
    }

    pub fn is_closed(&self) -> bool {
        self.under_way.borrow().is_closed
    }

    /// Counts a new message.
    pub fn begin(&self) {
        self.under_way.send_modify(|open| open.messages += 1);
    }

    /// Counts a message whose end was reported.
    pub fn end(&self) {
        self.under_way.send_modify(|open| open.messages -= 1);
    }

    /// Sends an event to the consumer, if it still exists.
    pub fn notify(&self, event: Event) {
        let _ = self.notices.send(Some(event));
    }

    pub fn fail(&self, peer: &str, id: u64, reason: impl ToString) {
        Counts::add(&self.counts.failed);
        self.notify(Event::Failed { peer: peer.to_owned(), id, reason: reason.to_string() });
    }
}
