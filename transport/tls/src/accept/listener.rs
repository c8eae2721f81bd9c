//! Listening sockets, and the origins of their connections.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};

/// A socket that listens.
#[derive(Debug)]
pub enum Listener {
    /// On a TCP port.
    Tcp(TcpListener),
    /// On a Unix socket.
    Unix(UnixListener),
}

impl From<TcpListener> for Listener {
    fn from(listener: TcpListener) -> Self {
        Self::Tcp(listener)
    }
}

impl From<UnixListener> for Listener {
    fn from(listener: UnixListener) -> Self {
        Self::Unix(listener)
    }
}

/// The other end of a connection, as its requests' extensions have it.
#[derive(Clone, Debug, Default)]
pub struct Peer {
    /// The address; `None` on a Unix socket.
    pub address: Option<SocketAddr>,
    /// The DNS names in the certificate that the client has shown; empty without mutual TLS.
    pub names: Arc<[String]>,
}

/// Origin that shares places: an IPv4 address, an IPv6 network of 64 bits, or a user of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Origin {
    Address([u8; 8]),
    User(u32),
}

impl From<IpAddr> for Origin {
    fn from(address: IpAddr) -> Self {
        let mut bytes = [0; 8];
        match address.to_canonical() {
            // No network of IPv6 starts with zeros.
            IpAddr::V4(address) => bytes[4..].copy_from_slice(&address.octets()),
            IpAddr::V6(address) => bytes.copy_from_slice(&address.octets()[..8]),
        }
        Self::Address(bytes)
    }
}

/// The bytes of a connection.
pub(super) trait Transport: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Transport for T {}

/// A connection that the system has accepted.
pub(super) struct Accepted {
    pub transport: Box<dyn Transport>,
    pub origin: Origin,
    pub address: Option<SocketAddr>,
}

impl Listener {
    pub(super) async fn accept(&self) -> io::Result<Accepted> {
        match self {
            Listener::Tcp(listener) => {
                let (stream, address) = listener.accept().await?;
                // Fails only for a connection that has closed already; its handshake finds out.
                let _ = stream.set_nodelay(true);
                let origin = Origin::from(address.ip());
                Ok(Accepted { transport: Box::new(stream), origin, address: Some(address) })
            }
            Listener::Unix(listener) => {
                let (stream, _) = listener.accept().await?;
                let user = stream.peer_cred().map_or(u32::MAX, |credentials| credentials.uid());
                Ok(Accepted { transport: Box::new(stream), origin: Origin::User(user), address: None })
            }
        }
    }
}
