//! An endpoint: one UDP socket, and connections to every peer.

use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{
    ClientConfig, ConnectionError, EndpointConfig, Incoming, ServerConfig, TokioRuntime, TransportErrorCode,
};
use tokio::sync::{Notify, OwnedSemaphorePermit, mpsc, watch};
use tokio::time::timeout;

use crate::admission::{Admission, HANDSHAKE, Verdict};
use crate::connection::{CLOSED, ENDS, UNLABELED, answer, known, serve};
use crate::dial::{ask, dial};
use crate::error::{OpenError, SendError};
use crate::event::{Event, Events};
use crate::options::{Options, URGENT};
use crate::pair::{Halves, Label, SentBy, new_incarnation};
use crate::shared::{Counters, Counts, Peer, Shared};
use crate::streams;
use crate::trouble::Trouble;
use crate::unfinished::Untaken;
use crate::warnings::Warnings;

/// One side of all its connections. Clones are the same endpoint.
#[derive(Debug, Clone)]
pub struct Endpoint {
    shared: Arc<Shared>,
    endpoint: quinn::Endpoint,
    client: ClientConfig,
}

impl Endpoint {
    /// Listens, and connects to its peers until it is [closed](Self::close). Must be called within a tokio
    /// runtime.
    ///
    /// # Errors
    /// Returns an error for an unavailable address, unusable TLS settings, or a name that is not in the
    /// certificate.
    pub fn open(options: Options) -> Result<(Self, Events), OpenError> {
        let address = options.listen;
        let socket = UdpSocket::bind(address).map_err(|cause| OpenError::Listen { address, cause })?;
        Self::open_on(socket, options)
    }

    /// Opens an endpoint on a bound socket; the listen address of `options` is ignored.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_on(socket: UdpSocket, options: Options) -> Result<(Self, Events), OpenError> {
        let names = options.tls.own_names();
        if !names.contains(&options.name) {
            return Err(OpenError::NotInCertificate { name: options.name, names: names.to_vec() });
        }
        if options.peers.contains_key(&options.name) {
            return Err(OpenError::OwnName { name: options.name });
        }
        let wrong = |reason: String| OpenError::Tls { reason };
        let transport = options.transport();
        let server = options.tls.server();
        let protocol = server.alpn_protocols.first().map(|name| String::from_utf8_lossy(name).into_owned());
        let server = QuicServerConfig::try_from(server);
        let server = server.map_err(|error| wrong(error.to_string()))?;
        let mut server = ServerConfig::with_crypto(Arc::new(server));
        server.transport_config(transport.clone());
        let client = QuicClientConfig::try_from(options.tls.client());
        let client = client.map_err(|error| wrong(error.to_string()))?;
        let mut client = ClientConfig::new(Arc::new(client));
        client.transport_config(transport);
        let address = options.listen;
        let (config, runtime) = (EndpointConfig::default(), Arc::new(TokioRuntime));
        let endpoint = quinn::Endpoint::new(config, Some(server), socket, runtime);
        let endpoint = endpoint.map_err(|cause| OpenError::Listen { address, cause })?;
        let (notices, notices_receiver) = mpsc::unbounded_channel();
        let (received, received_receiver) = mpsc::channel(options.events.max(1));
        let untaken = Untaken::new(options.held_bytes);
        let shared = Arc::new(Shared {
            name: options.name,
            protocol: protocol.unwrap_or_default(),
            incarnation: new_incarnation(),
            most_bytes: options.most_bytes,
            held_bytes: options.held_bytes,
            untaken: untaken.clone(),
            under_way: watch::Sender::default(),
            peers: Mutex::new(BTreeMap::new()),
            halves: Mutex::new(Halves::default()),
            counts: Counts::default(),
            warnings: Mutex::new(Warnings::default()),
            notices,
            received,
            changed: Notify::new(),
        });
        let this = Endpoint { shared, endpoint, client };
        tokio::spawn(accept_all(this.shared.clone(), this.endpoint.clone()));
        options.peers.into_iter().for_each(|(name, address)| this.set_peer(&name, address));
        Ok((this, Events { notices: notices_receiver, received: received_receiver, untaken }))
    }

    /// Adds a peer, or sets its address. Does nothing once the endpoint is closed.
    pub fn set_peer(&self, name: &str, address: SocketAddr) {
        let is_new = {
            let mut peers = self.shared.peers();
            if self.shared.is_closed() {
                return;
            }
            match peers.get_mut(name) {
                Some(peer) => {
                    peer.address = address;
                    false
                }
                None => {
                    peers.insert(name.to_owned(), Peer::new(address));
                    true
                }
            }
        };
        self.shared.changed.notify_waiters();
        if is_new {
            let (shared, endpoint, client) =
                (self.shared.clone(), self.endpoint.clone(), self.client.clone());
            match *self.shared.name < *name {
                true => drop(tokio::spawn(dial(shared, endpoint, client, name.to_owned()))),
                false => drop(tokio::spawn(ask(shared, endpoint, client, name.to_owned()))),
            }
        }
    }

    /// Returns the listen address.
    ///
    /// # Errors
    /// Returns the system's error.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.endpoint.local_addr()
    }

    /// Sends a message; returns immediately. Higher priorities go first on the connection. `id` is in the
    /// event that reports the end. An [`URGENT`] message fails immediately if the peer takes none of the many
    /// in flight: a peer that asks and does not take the answers uses no memory here.
    ///
    /// # Errors
    /// Returns an error for an unknown peer, or a message that is too long. There is no event then.
    pub fn send(&self, peer: &str, id: u64, data: Bytes, priority: i32) -> Result<(), SendError> {
        let (bytes, most) = (data.len() as u64, self.shared.most_bytes);
        if bytes > most {
            return Err(SendError::TooLong { bytes, most });
        }
        let (connection, urgent) = match self.shared.peers().get(peer) {
            Some(entry) => (entry.connection.as_ref().map(|pair| pair.sending.clone()), entry.urgent.clone()),
            None => return Err(SendError::UnknownPeer { name: peer.to_owned() }),
        };
        let (shared, peer) = (self.shared.clone(), peer.to_owned());
        let Some(connection) = connection else {
            shared.fail(&peer, id, "there is no connection");
            return Ok(());
        };
        let place = (priority == URGENT).then(|| urgent.try_acquire_owned());
        if let Some(Err(_)) = place {
            shared.fail(&peer, id, "the peer takes no messages");
            return Ok(());
        }
        let started = Instant::now();
        shared.begin();
        tokio::spawn(async move {
            let _place = place;
            match streams::send(&connection, data, priority).await {
                Ok(()) => {
                    Counts::add(&shared.counts.sent);
                    let (ended, rtt) = (Instant::now(), connection.rtt());
                    shared.notify(Event::Acknowledged { peer, id, bytes, started, ended, rtt });
                }
                Err(error) => shared.fail(&peer, id, streams::reason(&error)),
            }
            shared.end();
        });
        Ok(())
    }

    /// Returns the smoothed round-trip time to a peer; `None` without a connection.
    pub fn rtt(&self, peer: &str) -> Option<Duration> {
        self.shared.peers().get(peer)?.connection.as_ref().map(|pair| pair.sending.rtt())
    }

    /// Returns the bits received from a peer in bursts since the last call, and the duration in seconds: the
    /// rate of the link. `None` until the duration is `enough`.
    pub fn measured(&self, peer: &str, enough: Duration) -> Option<(f64, f64)> {
        self.shared.peers().get_mut(peer)?.meter.take(enough)
    }

    /// Returns why there is no connection to a peer: its address, and how the last attempt failed. `None`:
    /// there is a connection, or no such peer.
    pub fn trouble(&self, peer: &str) -> Option<Trouble> {
        self.shared.trouble(peer)
    }

    /// Returns the same in words.
    pub fn why_not(&self, peer: &str) -> String {
        self.trouble(peer).map_or_else(|| "not connected yet".to_owned(), |trouble| trouble.to_string())
    }

    /// Returns the counters.
    pub fn counters(&self) -> Counters {
        self.shared.counts.read()
    }

    /// Ends all connections and notifies the peers. Messages in flight have failed when this returns, and
    /// [`Events::next`] returns `None` after the last event.
    pub async fn close(&self) {
        {
            // In one critical section, so that no peer is added in between.
            let mut peers = self.shared.peers();
            self.shared.under_way.send_modify(|open| open.is_closed = true);
            peers.clear();
            self.shared.halves().clear();
        }
        self.shared.changed.notify_waiters();
        self.endpoint.close(CLOSED, ENDS);
        self.endpoint.wait_idle().await;
        // The sender is here, so there is no error.
        let _ = self.shared.under_way.subscribe().wait_for(|open| open.messages == 0).await;
        let _ = self.shared.notices.send(None); // without a consumer no notice is needed
    }
}

async fn accept_all(shared: Arc<Shared>, endpoint: quinn::Endpoint) {
    let admission = Admission::default();
    while let Some(incoming) = endpoint.accept().await {
        let is_peer = shared.peer_at(incoming.remote_address()).is_some();
        match admission.judge(is_peer, incoming.remote_address_validated()) {
            Verdict::Admit(place) => {
                tokio::spawn(accept(shared.clone(), incoming, place));
            }
            // A client with an unvalidated address may be asked to retry, so there is no error.
            Verdict::Check => drop(incoming.retry()),
            Verdict::Refuse => {
                Counts::add(&shared.counts.refused);
                incoming.refuse();
            }
        }
    }
}

/// Serves a connection once its other side has shown its certificate and the connection's label. Until then
/// the connection occupies its place.
async fn accept(shared: Arc<Shared>, incoming: Incoming, place: OwnedSemaphorePermit) {
    let address = incoming.remote_address();
    let connection = match timeout(HANDSHAKE, incoming).await {
        Ok(Ok(connection)) => connection,
        Ok(Err(error)) => return failed(&shared, address, Some(&error)),
        Err(_) => return failed(&shared, address, None),
    };
    let Some(peer) = known(&shared, &connection) else { return };
    let Some(label) = Label::receive(&connection, shared.incarnation).await else {
        Counts::add(&shared.counts.refused);
        tracing::warn!("{peer} at {address} did not send its role");
        connection.close(UNLABELED, b"the first message must be the role");
        return;
    };
    if label.sent_by == SentBy::Neither {
        return answer(&shared, &peer, label.incarnation, &connection).await;
    }
    let pair = shared.halves().complete(&peer, label, connection);
    drop(place);
    if let Some(pair) = pair {
        serve(shared, peer, pair).await;
    }
}

/// Notes and logs why a handshake from an address has failed; without an error it took too long.
fn failed(shared: &Shared, address: SocketAddr, error: Option<&ConnectionError>) {
    Counts::add(&shared.counts.refused);
    let peer = shared.peer_at(address);
    if let Some(cause) = error.and_then(|error| shared.refusal(error)) {
        return match peer {
            Some(peer) => shared.warn(&peer, address, cause),
            None if shared.may_warn("", &cause) => tracing::warn!("no connection from {address}: {cause}"),
            None => {}
        };
    }
    let why = error.map_or_else(|| "it takes too long".to_owned(), ToString::to_string);
    tracing::info!("a connection from {address} was refused: {why}");
    let Some(peer) = peer else { return };
    // A peer that abandons an attempt does not say why: the trouble noted before is more precise.
    if !error.is_some_and(gave_up) || shared.trouble(&peer).is_some_and(|trouble| trouble.cause.is_none()) {
        shared.note(&peer, format!("its connection was refused: {why}"));
    }
}

/// Returns whether the other side has given up a handshake, without a reason (RFC 9000, section 10.2.3).
fn gave_up(error: &ConnectionError) -> bool {
    matches!(error, ConnectionError::ConnectionClosed(close)
        if close.error_code == TransportErrorCode::APPLICATION_ERROR)
}
