//! The accept side of gRPC servers: unauthorized clients cannot keep authorized ones out.
//!
//! A connection starts with a handshake: TLS, if the server has a certificate, then the 24 bytes with which
//! every HTTP/2 client starts. Handshakes have places of their own and a deadline. If the places run out, the
//! oldest handshake of the address with the most is closed. So a client that does its handshake in time is
//! served, however many connections stay silent or send a byte now and then.
//!
//! Only after its handshake a connection takes a place for connections. If these run out, an address with
//! many connections loses its newest to an address with few. A server that asks its clients for certificates
//! rejects others before they take such a place.
//!
//! If the process has no file left (`EMFILE`), the listener waits, closes a handshake and tries again.

mod connection;
mod handshake;
mod limits;
mod listener;
mod places;

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_stream::Stream;

use crate::ServerTls;
pub use connection::Connection;
use handshake::Handshakes;
pub use limits::Limits;
pub use listener::{Listener, Peer};
use places::{Places, Rule};

/// Connections after their handshakes, for `serve_with_incoming` of tonic's server. The server must not be
/// given the TLS settings again. Closes the listener when dropped.
pub struct Incoming {
    ready: mpsc::Receiver<Connection>,
    _work: JoinSet<()>,
}

impl Incoming {
    /// Accepts connections of that listener; by TLS only, if `tls` is given. Must be called in a tokio
    /// runtime.
    pub fn new(listener: impl Into<Listener>, tls: Option<&ServerTls>, limits: Limits) -> Self {
        let (served, ready) = mpsc::channel(1);
        let handshakes = Handshakes {
            tls: tls.map(ServerTls::acceptor),
            limits,
            shaking: Arc::new(Places::new(limits.handshakes, Rule::OldestOfHeaviest)),
            connected: Arc::new(Places::new(limits.connections, Rule::NewestOfHeavier)),
            served,
        };
        let mut work = JoinSet::new();
        work.spawn(handshakes.run(listener.into()));
        Self { ready, _work: work }
    }
}

impl Stream for Incoming {
    type Item = io::Result<Connection>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.ready.poll_recv(context).map(|connection| connection.map(Ok))
    }
}
