//! A server that answers every call, an authority, and clients right and wrong.

use std::convert::Infallible;
use std::future::{Future, Ready, ready};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::task::{Context, Poll};
use std::time::Duration;

use inart_tls::accept::{Incoming, Limits, Peer};
use inart_tls::{ClientTls, IdentityFiles, Security, ServerTls, connect_channel};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tonic::body::Body;
use tonic::codegen::{Service, http};
use tonic::server::NamedService;
use tonic::transport::Channel;

/// Only a failure waits for it.
pub const TIMEOUT: Duration = Duration::from_secs(60);

pub async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(TIMEOUT, what).await.expect("it happens in time")
}

/// Answers every call with the names in its client's certificate.
#[derive(Clone)]
pub struct Names;

impl NamedService for Names {
    const NAME: &'static str = "inart.Names";
}

impl Service<http::Request<Body>> for Names {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let peer = request.extensions().get::<Peer>().expect("the connection has its peer");
        assert!(peer.address.is_some());
        ready(Ok(http::Response::builder()
            .header("names", peer.names.join(","))
            .body(Body::empty())
            .unwrap()))
    }
}

/// Serves on a free port until the runtime ends.
pub async fn serve(tls: Option<ServerTls>, limits: Limits) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let incoming = Incoming::new(listener, tls.as_ref(), limits);
    tokio::spawn(tonic::transport::Server::builder().add_service(Names).serve_with_incoming(incoming));
    address
}

/// Makes a call; the names that the server has read in the client's certificate.
pub async fn call(channel: &mut Channel) -> Result<String, String> {
    std::future::poll_fn(|context| channel.poll_ready(context)).await.map_err(|error| error.to_string())?;
    let request = http::Request::builder().uri("/inart.Names/Get").body(Body::empty()).unwrap();
    let response = channel.call(request).await.map_err(|error| error.to_string())?;
    Ok(response.headers()["names"].to_str().unwrap().to_owned())
}

/// Returns a client that connects once and calls.
pub async fn connect(address: SocketAddr, security: &Security) -> Result<Channel, String> {
    let channel = connect_channel(&address.to_string(), security, TIMEOUT).await;
    channel.map_err(|error| error.to_string())
}

/// Opens a connection from that address of this machine.
pub async fn open(from: IpAddr, to: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::new(from, 0)).unwrap();
    soon(socket.connect(to)).await.unwrap()
}

/// Keeps that many connections open, opened again when they are closed. Half of them are silent, half start a
/// handshake and send a byte now and then.
pub async fn besiege(from: IpAddr, to: SocketAddr, count: usize, start: &'static [u8]) -> JoinSet<()> {
    let mut siege = JoinSet::new();
    let mut first = Vec::new();
    for _ in 0..count {
        first.push(open(from, to).await);
    }
    for (index, mut stream) in first.into_iter().enumerate() {
        siege.spawn(async move {
            loop {
                if index % 2 == 0 {
                    let _ = tokio::io::AsyncReadExt::read(&mut stream, &mut [0; 64]).await;
                } else if stream.write_all(start).await.is_ok() {
                    loop {
                        tokio::time::sleep(Duration::from_millis(100)).await;
                        if stream.write_all(&[0]).await.is_err() {
                            break;
                        }
                    }
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
                let socket = TcpSocket::new_v4().unwrap();
                socket.bind(SocketAddr::new(from, 0)).unwrap();
                if let Ok(again) = socket.connect(to).await {
                    stream = again;
                }
            }
        });
    }
    siege
}

/// An authority with a certificate for a server and for a client.
pub struct Authority(TempDir);

impl Authority {
    pub fn found() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ca_key = KeyPair::generate().unwrap();
        let mut ca = CertificateParams::new(Vec::new()).unwrap();
        ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        std::fs::write(folder.path().join("ca.pem"), ca.self_signed(&ca_key).unwrap().pem()).unwrap();
        let issuer = Issuer::from_params(&ca, &ca_key);
        for holder in ["server", "client"] {
            let key = KeyPair::generate().unwrap();
            let names = vec![holder.to_owned(), "127.0.0.1".to_owned()];
            let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &issuer).unwrap();
            std::fs::write(folder.path().join(format!("{holder}.pem")), certificate.pem()).unwrap();
            std::fs::write(folder.path().join(format!("{holder}.key")), key.serialize_pem()).unwrap();
        }
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn identity(&self, holder: &str) -> IdentityFiles {
        IdentityFiles {
            certificate: self.path(&format!("{holder}.pem")),
            key: self.path(&format!("{holder}.key")),
        }
    }

    /// Returns a server that requests a certificate from its clients.
    pub fn server(&self) -> ServerTls {
        ServerTls::load(&self.identity("server"), Some(&self.path("ca.pem"))).unwrap()
    }

    /// Returns a client with a certificate, or without.
    pub fn client(&self, is_known: bool) -> Security {
        let identity = is_known.then(|| self.identity("client"));
        Security::Tls(ClientTls::load(&self.path("ca.pem"), identity.as_ref(), None).unwrap())
    }
}
