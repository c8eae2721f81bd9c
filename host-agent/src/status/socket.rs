//! Status of a host: a socket that answers every connection with one JSON document and closes it.
//!
//! A separate thread answers, so that the host answers while its program computes; a suspended process does
//! not.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use inart_protocol_aggregation::{ServerStatus, WorkerStatus};
use nix::net::if_::InterfaceFlags;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Status of a host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostStatus {
    /// Status of a worker.
    Worker(WorkerStatus),
    /// Status of a parameter server.
    Server(ServerStatus),
}

/// Answer of a host, with a status of type `S`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StatusReport<S = HostStatus> {
    /// Seconds since the status was taken.
    pub age_seconds: f64,
    /// The interface that the host uses, if the socket was given it and the system has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<InterfaceStatus>,
    /// Status.
    #[serde(flatten)]
    pub status: S,
}

/// Status of an interface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InterfaceStatus {
    /// The interface's name.
    pub name: String,
    /// Whether the interface and the other end of its cable are up.
    pub carrier: bool,
    /// MTU in bytes without the Ethernet header, if the system reports it.
    #[serde(default)]
    pub mtu: Option<usize>,
}

impl InterfaceStatus {
    /// Asks the system.
    fn of(name: &str) -> Option<Self> {
        let mut all = nix::ifaddrs::getifaddrs().ok()?;
        let found = all.find(|interface| interface.interface_name == name)?;
        let wanted = InterfaceFlags::IFF_UP | InterfaceFlags::IFF_RUNNING;
        let mtu = inart_ethernet::mtu(name).ok();
        Some(Self { name: name.to_owned(), carrier: found.flags.contains(wanted), mtu })
    }
}

/// Contents of the socket's answers.
#[derive(Clone)]
struct Known<S> {
    /// The interface's name.
    interface: Option<String>,
    /// The last status and when it was taken.
    last: Option<(Instant, S)>,
}

impl<S> Known<S> {
    fn nothing() -> Shared<S> {
        Arc::new(Mutex::new(Self { interface: None, last: None }))
    }

    fn report(self) -> Option<StatusReport<S>> {
        let (taken, status) = self.last?;
        let interface = self.interface.as_deref().and_then(InterfaceStatus::of);
        Some(StatusReport { age_seconds: taken.elapsed().as_secs_f64(), interface, status })
    }
}

type Shared<S> = Arc<Mutex<Known<S>>>;

/// Socket that reports the status of a host. Clones report through the same socket, for hosts that run one
/// after the other.
pub struct StatusSocket<S = HostStatus> {
    shared: Shared<S>,
    taken: Option<Instant>,
}

impl<S> Clone for StatusSocket<S> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), taken: self.taken }
    }
}

impl<S> fmt::Debug for StatusSocket<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StatusSocket")
    }
}

impl<S: Clone + Serialize + Send + 'static> StatusSocket<S> {
    /// Statuses are taken this far apart at least.
    const INTERVAL: Duration = Duration::from_millis(50);

    /// Listens on a loopback `HOST:PORT`, or on a Unix socket at a path.
    ///
    /// # Errors
    /// For an address that is not of this machine, or that cannot be listened on.
    pub fn listen(address: &str) -> io::Result<Self> {
        let shared = Known::nothing();
        let answered = Arc::clone(&shared);
        match address.parse::<SocketAddr>() {
            Ok(socket) if !socket.ip().is_loopback() => {
                return Err(io::Error::other(
                    "other machines could read it; give a port of 127.0.0.1, or a path",
                ));
            }
            Ok(socket) => {
                let listener = TcpListener::bind(socket)?;
                let answer = move || answer_all(listener.incoming(), &answered);
                thread::Builder::new().name("status".into()).spawn(answer)?;
            }
            Err(_) => {
                let listener = inart_sockets::listen(Path::new(address))?;
                let answer = move || answer_all(listener.incoming(), &answered);
                thread::Builder::new().name("status".into()).spawn(answer)?;
            }
        }
        Ok(Self { shared, taken: None })
    }

    /// Creates one without an address, for threads of this process that [watch](Self::watch).
    pub fn quiet() -> Self {
        Self { shared: Known::nothing(), taken: None }
    }

    /// Reports of this interface, too.
    #[must_use]
    pub fn on_interface(self, name: &str) -> Self {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).interface = Some(name.to_owned());
        self
    }

    /// Returns a reader of the last status for other threads.
    pub fn watch(&self) -> StatusWatch<S> {
        StatusWatch(Arc::clone(&self.shared))
    }

    /// Returns whether the last status is old enough for another.
    pub fn is_due(&self) -> bool {
        self.taken.is_none_or(|taken| taken.elapsed() >= Self::INTERVAL)
    }

    /// Takes a status.
    pub fn take(&mut self, status: S) {
        let now = Instant::now();
        self.taken = Some(now);
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).last = Some((now, status));
    }
}

/// Reader of the status of a host of this process.
pub struct StatusWatch<S = HostStatus>(Shared<S>);

impl<S> Clone for StatusWatch<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S: Clone> StatusWatch<S> {
    /// Returns the last status; `None` before the first.
    pub fn latest(&self) -> Option<S> {
        Some(self.report()?.status)
    }

    /// Returns the last status with its age.
    pub fn report(&self) -> Option<StatusReport<S>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone().report()
    }
}

/// Answers connections for as long as the process runs. If the process has no file descriptor left for one,
/// the next attempt waits.
fn answer_all<S: Clone + Serialize, C: Write>(
    connections: impl Iterator<Item = io::Result<C>>,
    shared: &Shared<S>,
) {
    for connection in connections {
        match connection {
            Ok(stream) => answer_with(stream, shared),
            Err(_) => thread::sleep(RETRY),
        }
    }
}

fn answer_with<S: Clone + Serialize>(mut stream: impl Write, shared: &Shared<S>) {
    let known = shared.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if let Some(report) = known.report() {
        let json = serde_json::to_vec(&report).expect("a status is plain data");
        let _ = stream.write_all(&json); // the client may have disconnected
    }
}

/// Wait after a connection that could not be accepted.
const RETRY: Duration = Duration::from_millis(250);

/// Longest answer that is read, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// Returns the status of the host whose status socket is at `address`; `None` if it has not started yet.
///
/// # Errors
/// No answer within `timeout`, or one that is not a status of type `S`.
pub fn ask<S: DeserializeOwned>(address: &str, timeout: Duration) -> io::Result<Option<StatusReport<S>>> {
    let mut text = String::new();
    match address.parse::<SocketAddr>() {
        Ok(socket) => {
            let stream = TcpStream::connect_timeout(&socket, timeout)?;
            stream.set_read_timeout(Some(timeout))?;
            stream.take(MOST_BYTES).read_to_string(&mut text)?;
        }
        Err(_) => {
            let stream = UnixStream::connect(address)?;
            stream.set_read_timeout(Some(timeout))?;
            stream.take(MOST_BYTES).read_to_string(&mut text)?;
        }
    }
    if text.is_empty() {
        return Ok(None);
    }
    serde_json::from_str(&text).map(Some).map_err(io::Error::other)
}
