//! A connection after its handshake.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};
use tonic::transport::server::Connected;

use super::listener::{Peer, Transport};
use super::places::Place;

/// The bytes with which every HTTP/2 client starts (RFC 9113, section 3.4).
pub(super) const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A connection that ends when its client is silent, or when its place goes to another address.
pub struct Connection {
    transport: Box<dyn Transport>,
    /// The bytes of [`PREFACE`] that the server has read: the handshake took them off.
    replayed: usize,
    peer: Peer,
    place: Place,
    patience: Duration,
    silence: Pin<Box<Sleep>>,
}

impl Connection {
    pub(super) fn new(transport: Box<dyn Transport>, peer: Peer, place: Place, patience: Duration) -> Self {
        let silence = Box::pin(sleep(patience));
        Self { transport, replayed: 0, peer, place, patience, silence }
    }

    fn poll_place(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        match self.place.poll_lost(context) {
            Poll::Ready(()) => Err(io::ErrorKind::ConnectionAborted.into()),
            Poll::Pending => Ok(()),
        }
    }
}

impl Connected for Connection {
    type ConnectInfo = Peer;

    fn connect_info(&self) -> Peer {
        self.peer.clone()
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.poll_place(context)?;
        let rest = &PREFACE[self.replayed..];
        if !rest.is_empty() && buffer.remaining() > 0 {
            let taken = rest.len().min(buffer.remaining());
            buffer.put_slice(&rest[..taken]);
            self.replayed += taken;
            return Poll::Ready(Ok(()));
        }
        let read = Pin::new(&mut self.transport).poll_read(context, buffer);
        if read.is_ready() {
            let until = Instant::now() + self.patience;
            self.silence.as_mut().reset(until);
            return read;
        }
        ready!(self.silence.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_place(context)?;
        Pin::new(&mut self.transport).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_place(context)?;
        Pin::new(&mut self.transport).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_place(context)?;
        Pin::new(&mut self.transport).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_place(context)?;
        Pin::new(&mut self.transport).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.transport.is_write_vectored()
    }
}
