//! Answering hosts and people.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use inart_control::proto::{self, controller_server};
use inart_tls::ServerTls;
use inart_wire::{Epoch, Incarnation, JobId};
use tokio::net::{TcpListener, UnixListener};
use tokio_stream::wrappers::{TcpListenerStream, UnixListenerStream};
use tonic::transport::Server;
use tonic::{Request, Response, Status};

use crate::daemon::State;
use crate::records::Claim;

/// Where the API listens.
#[derive(Debug)]
pub enum Listener {
    /// On a TCP port.
    Tcp(TcpListener),
    /// On a Unix socket.
    Unix(UnixListener),
}

/// Why the API cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Not an address.
    #[error("\"{0}\" is not an address: write HOST:PORT with a numeric host, or unix:/path")]
    Address(String),
    /// Others could read and ask.
    #[error(
        "{0} can be reached from other machines and the connection is plain: listen on 127.0.0.1 or unix:/path, or \
         give --listen-ca, --listen-cert and --listen-key, or allow it with --insecure-listen"
    )]
    Exposed(SocketAddr),
    /// The system refused.
    #[error("cannot listen on {address} ({cause}): choose another address")]
    System {
        /// The address.
        address: String,
        /// What it said.
        cause: io::Error,
    },
}

impl Listener {
    /// Listens on `HOST:PORT` or `unix:/path`; outside the loopback only if `exposed` allows it.
    ///
    /// # Errors
    /// An address that cannot be listened on, or that others could reach although `exposed` forbids it.
    pub async fn bind(address: &str, exposed: bool) -> Result<Self, ListenError> {
        let system = |cause| ListenError::System { address: address.to_owned(), cause };
        if let Some(path) = address.strip_prefix("unix:") {
            let listener = inart_sockets::listen(Path::new(path)).map_err(system)?;
            listener.set_nonblocking(true).map_err(system)?;
            return UnixListener::from_std(listener).map(Listener::Unix).map_err(system);
        }
        let socket: SocketAddr = address.parse().map_err(|_| ListenError::Address(address.to_owned()))?;
        if !socket.ip().is_loopback() && !exposed {
            return Err(ListenError::Exposed(socket));
        }
        TcpListener::bind(socket).await.map(Listener::Tcp).map_err(system)
    }

    /// What clients connect to.
    ///
    /// # Errors
    /// The system's, if it does not know the socket's address.
    pub fn address(&self) -> io::Result<String> {
        match self {
            Listener::Tcp(listener) => Ok(listener.local_addr()?.to_string()),
            Listener::Unix(listener) => {
                let address = listener.local_addr()?;
                Ok(format!("unix:{}", address.as_pathname().unwrap_or(Path::new("")).display()))
            }
        }
    }
}

/// An API that answers.
pub type Serving<'a> = BoxFuture<'a, Result<(), tonic::transport::Error>>;

/// Answers until `stop` is ready; by TLS only, if `tls` is given.
///
/// # Errors
/// The transport's, if it can accept no more connections.
pub fn serve<'a>(
    listener: Listener,
    tls: Option<ServerTls>,
    state: Arc<State>,
    stop: impl Future<Output = ()> + Send + 'a,
) -> Serving<'a> {
    boxed(listener, tls, state, stop.boxed())
}

/// Compiled with this crate, and not again with each that serves.
fn boxed<'a>(
    listener: Listener,
    tls: Option<ServerTls>,
    state: Arc<State>,
    stop: BoxFuture<'a, ()>,
) -> Serving<'a> {
    answer(listener, tls, state, stop).boxed()
}

async fn answer(
    listener: Listener,
    tls: Option<ServerTls>,
    state: Arc<State>,
    stop: BoxFuture<'_, ()>,
) -> Result<(), tonic::transport::Error> {
    let service = controller_server::ControllerServer::new(Api(state));
    let mut server = Server::builder();
    if let Some(tls) = tls {
        server = server.tls_config(tls.config())?;
    }
    let server = server.add_service(service);
    match listener {
        Listener::Tcp(tcp) => server.serve_with_incoming_shutdown(TcpListenerStream::new(tcp), stop).await,
        Listener::Unix(unix) => {
            server.serve_with_incoming_shutdown(UnixListenerStream::new(unix), stop).await
        }
    }
}

struct Api(Arc<State>);

impl Api {
    /// An error that makes hosts ask again unless this controller's word counts.
    fn in_charge(&self) -> Result<(), Status> {
        self.0.waiting().map_or(Ok(()), |why| Err(Status::unavailable(why)))
    }
}

#[tonic::async_trait]
impl controller_server::Controller for Api {
    async fn get_assignment(
        &self,
        request: Request<proto::GetAssignmentRequest>,
    ) -> Result<Response<proto::Assignment>, Status> {
        let found = self.0.assignment(&request.into_inner().job);
        // Looked at afterwards: who is in charge now was so when the answer was read.
        self.in_charge()?;
        let found = found.ok_or_else(|| Status::unavailable("it is at it"))?;
        found.map(|assignment| Response::new((&assignment).into())).map_err(Status::not_found)
    }

    async fn claim(
        &self,
        request: Request<proto::ClaimRequest>,
    ) -> Result<Response<proto::ClaimResponse>, Status> {
        self.in_charge()?;
        let proto::ClaimRequest { job, epoch, role, incarnation } = request.into_inner();
        let number = |number| {
            u16::try_from(number).map_err(|_| Status::invalid_argument("job and epoch have 16 bits"))
        };
        let (job, epoch) = (JobId::from(number(job)?), Epoch::from(number(epoch)?));
        let (state, who, life) = (self.0.clone(), role.clone(), Incarnation::from(incarnation));
        let claimed = tokio::task::spawn_blocking(move || state.claim(job, epoch, who, life)).await;
        let claimed = claimed.map_err(|error| Status::internal(error.to_string()))?;
        match claimed.ok_or_else(|| Status::unavailable("it is at it"))? {
            Ok(Claim::Granted) => {
                tracing::info!(job = job.get(), epoch = epoch.get(), role, "a host starts");
                Ok(Response::new(proto::ClaimResponse {}))
            }
            Ok(Claim::Taken) => Err(Status::already_exists(format!(
                "{role} has run under epoch {epoch} before, and switches may still hold sums of that run; \
                 start the controller with --new-epoch and then all hosts again"
            ))),
            Ok(Claim::NotInForce(live)) => Err(Status::failed_precondition(match live {
                Some(live) => format!(
                    "{role} asks for epoch {epoch} of job {job}, but {live} is in force now: start the host again"
                ),
                None => format!("{role} asks for epoch {epoch} of job {job}, which has no plan in force"),
            })),
            Err(error) => Err(Status::internal(error.to_string())),
        }
    }

    async fn get_status(
        &self,
        _: Request<proto::GetStatusRequest>,
    ) -> Result<Response<proto::Status>, Status> {
        Ok(Response::new(self.0.status()))
    }
}
