//! Handshakes: TLS, then the first bytes of HTTP/2, in time.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};
use tokio_rustls::TlsAcceptor;

use super::connection::{Connection, PREFACE};
use super::limits::Limits;
use super::listener::{Accepted, Listener, Peer, Transport};
use super::places::{Place, Places};
use crate::MutualTls;

/// Empty SETTINGS, then GOAWAY with PROTOCOL_ERROR: the answer to other protocols, so that the client's error
/// names the protocol.
const NOT_HTTP2: &[u8] = &[
    0, 0, 0, 4, 0, 0, 0, 0, 0, // SETTINGS
    0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, // GOAWAY
];

/// Time for a refused client to read the reason, before the socket is closed.
const LINGER: Duration = Duration::from_secs(1);

/// Pause of the listener after the system refused a connection and a handshake was closed for it, or none
/// could be.
const BACK_OFF: Duration = Duration::from_millis(10);
const LONG_BACK_OFF: Duration = Duration::from_millis(250);

/// Between two warnings of one kind.
const QUIET: Duration = Duration::from_secs(10);

/// The listener's work.
pub(super) struct Handshakes {
    pub tls: Option<TlsAcceptor>,
    pub limits: Limits,
    pub shaking: Arc<Places>,
    pub connected: Arc<Places>,
    pub served: mpsc::Sender<Connection>,
}

impl Handshakes {
    /// Accepts until the task is dropped, or the server takes no more connections.
    pub async fn run(self, listener: Listener) {
        let this = Arc::new(self);
        let mut under_way = JoinSet::new();
        let (mut refused, mut crowded) = (Quiet::default(), Quiet::default());
        while !this.served.is_closed() {
            while under_way.try_join_next().is_some() {}
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = this.served.closed() => return,
            };
            match accepted {
                Ok(accepted) => {
                    let Some(entered) = this.shaking.enter(accepted.origin) else { continue };
                    if let Some(origin) = entered.displaced
                        && crowded.may_speak()
                    {
                        let most = this.limits.handshakes;
                        tracing::warn!(?origin, "closed the oldest of {most} handshakes");
                    }
                    under_way.spawn(this.clone().shake(accepted, entered.place));
                }
                Err(error) if is_of_one_connection(&error) => {}
                Err(error) => {
                    if refused.may_speak() {
                        tracing::warn!(%error, "cannot accept connections, trying again; raise `ulimit -n`");
                    }
                    sleep(if this.shaking.make_room() { BACK_OFF } else { LONG_BACK_OFF }).await;
                }
            }
        }
    }

    async fn shake(self: Arc<Self>, accepted: Accepted, mut place: Place) {
        let (origin, address) = (accepted.origin, accepted.address);
        let shaken = tokio::select! {
            shaken = timeout(self.limits.handshake_time, self.first_bytes(accepted)) => shaken,
            () = place.lost() => return,
        };
        let (transport, peer) = match shaken {
            Ok(Ok(shaken)) => shaken,
            Ok(Err(error)) => return tracing::debug!(?address, %error, "a handshake failed"),
            Err(_) => return tracing::debug!(?address, "a handshake took too long"),
        };
        let Some(entered) = self.connected.enter(origin) else {
            let most = self.limits.connections;
            return tracing::warn!(?address, "closed: there are {most} connections already");
        };
        drop(place);
        if let Some(heavy) = entered.displaced {
            tracing::warn!(?heavy, ?address, "closed the newest connection of an address with many");
        }
        let _ = self.served.send(Connection::new(transport, peer, entered.place, self.limits.silence)).await;
    }

    async fn first_bytes(&self, accepted: Accepted) -> io::Result<(Box<dyn Transport>, Peer)> {
        let mut peer = Peer { address: accepted.address, ..Peer::default() };
        let mut transport = accepted.transport;
        if let Some(tls) = &self.tls {
            let secured = match tls.accept(transport).into_fallible().await {
                Ok(secured) => secured,
                Err((error, transport)) => {
                    linger(transport).await;
                    return Err(error);
                }
            };
            let shown = secured.get_ref().1.peer_certificates().unwrap_or_default();
            peer.names = shown.first().map(|own| MutualTls::names(own)).unwrap_or_default().into();
            transport = Box::new(secured);
        }
        match read_preface(&mut transport).await {
            Ok(()) => Ok((transport, peer)),
            Err(error) => {
                if error.kind() == io::ErrorKind::InvalidData {
                    let _ = transport.write_all(NOT_HTTP2).await;
                    linger(transport).await;
                }
                Err(error)
            }
        }
    }
}

/// Fails at the first byte that is another.
async fn read_preface(transport: &mut Box<dyn Transport>) -> io::Result<()> {
    let (mut bytes, mut read) = ([0; PREFACE.len()], 0);
    while read < PREFACE.len() {
        match transport.read(&mut bytes[read..]).await? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            more => read += more,
        }
        if bytes[..read] != PREFACE[..read] {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the client does not support HTTP/2"));
        }
    }
    Ok(())
}

/// Ends a connection so that its client reads the last written bytes: closing a socket with unread bytes
/// resets the connection, and the client may lose data in flight.
async fn linger(mut transport: Box<dyn Transport>) {
    let mut unread = [0; 4096];
    let drain = async {
        transport.shutdown().await?;
        while transport.read(&mut unread).await? > 0 {}
        io::Result::Ok(())
    };
    let _ = timeout(LINGER, drain).await;
}

/// Returns whether only one connection failed, before it was accepted; see accept(2).
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

/// Limits a message to one per interval.
#[derive(Default)]
struct Quiet(Option<Instant>);

impl Quiet {
    fn may_speak(&mut self) -> bool {
        let now = Instant::now();
        let may = self.0.is_none_or(|last| now - last >= QUIET);
        if may {
            self.0 = Some(now);
        }
        may
    }
}
