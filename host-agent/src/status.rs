//! What a host is doing: a socket that answers every connection with one JSON document and closes it.
//!
//! A thread of its own answers, so that the host answers while its program computes; a process that is
//! stopped does not.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use inart_core::{ServerStatus, WorkerStatus};
use nix::net::if_::InterfaceFlags;
use serde::{Deserialize, Serialize};

/// What a host is doing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostStatus {
    /// As a worker.
    Worker(WorkerStatus),
    /// As a parameter server.
    Server(ServerStatus),
}

/// What a host answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StatusReport {
    /// Seconds since the status was taken.
    pub age_seconds: f64,
    /// The interface that the host uses, if the socket was given it and the system has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<InterfaceStatus>,
    /// The status.
    #[serde(flatten)]
    pub status: HostStatus,
}

/// How an interface is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InterfaceStatus {
    /// The interface's name.
    pub name: String,
    /// Whether it is up and the other end of its cable is.
    pub carrier: bool,
}

impl InterfaceStatus {
    /// Asks the system.
    fn of(name: &str) -> Option<Self> {
        let mut all = nix::ifaddrs::getifaddrs().ok()?;
        let found = all.find(|interface| interface.interface_name == name)?;
        let wanted = InterfaceFlags::IFF_UP | InterfaceFlags::IFF_RUNNING;
        Some(Self { name: name.to_owned(), carrier: found.flags.contains(wanted) })
    }
}

/// Contents of the socket's answers.
#[derive(Clone, Default)]
struct Known {
    /// The interface's name.
    interface: Option<String>,
    /// The last status and when it was taken.
    last: Option<(Instant, HostStatus)>,
}

impl Known {
    fn report(self) -> Option<StatusReport> {
        let (taken, status) = self.last?;
        let interface = self.interface.as_deref().and_then(InterfaceStatus::of);
        Some(StatusReport { age_seconds: taken.elapsed().as_secs_f64(), interface, status })
    }
}

type Shared = Arc<Mutex<Known>>;

/// A socket that tells what a host is doing. Clones tell through the same socket: for hosts that run one
/// after the other.
#[derive(Clone)]
pub struct StatusSocket {
    shared: Shared,
    taken: Option<Instant>,
}

impl fmt::Debug for StatusSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StatusSocket")
    }
}

impl StatusSocket {
    /// Statuses are taken this far apart at least.
    const INTERVAL: Duration = Duration::from_millis(50);

    /// Listens on a loopback `HOST:PORT`, or on a Unix socket at a path.
    ///
    /// # Errors
    /// For an address that is not of this machine, or that cannot be listened on.
    pub fn listen(address: &str) -> io::Result<Self> {
        let shared = Shared::default();
        let told = Arc::clone(&shared);
        match address.parse::<SocketAddr>() {
            Ok(socket) if !socket.ip().is_loopback() => {
                return Err(io::Error::other(
                    "other machines could ask: give a port of 127.0.0.1, or a path",
                ));
            }
            Ok(socket) => {
                let listener = TcpListener::bind(socket)?;
                let answer = move || listener.incoming().flatten().for_each(|stream| tell(stream, &told));
                thread::Builder::new().name("status".into()).spawn(answer)?;
            }
            Err(_) => {
                let listener = inart_sockets::listen(Path::new(address))?;
                let answer = move || listener.incoming().flatten().for_each(|stream| tell(stream, &told));
                thread::Builder::new().name("status".into()).spawn(answer)?;
            }
        }
        Ok(Self { shared, taken: None })
    }

    /// Answers nobody: for who [watches](Self::watch) within the process.
    pub fn quiet() -> Self {
        Self { shared: Shared::default(), taken: None }
    }

    /// Reports of this interface, too.
    #[must_use]
    pub fn on_interface(self, name: &str) -> Self {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).interface = Some(name.to_owned());
        self
    }

    /// What tells the last status to other threads.
    pub fn watch(&self) -> StatusWatch {
        StatusWatch(Arc::clone(&self.shared))
    }

    /// Whether the last status is old enough for another.
    pub(crate) fn is_due(&self) -> bool {
        self.taken.is_none_or(|taken| taken.elapsed() >= Self::INTERVAL)
    }

    /// Takes a status.
    pub(crate) fn take(&mut self, status: HostStatus) {
        let now = Instant::now();
        self.taken = Some(now);
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).last = Some((now, status));
    }
}

/// Tells what a host of this process is doing.
#[derive(Clone)]
pub struct StatusWatch(Shared);

impl StatusWatch {
    /// The last status; `None` before the first.
    pub fn latest(&self) -> Option<HostStatus> {
        Some(self.report()?.status)
    }

    /// The same, with its age.
    pub fn report(&self) -> Option<StatusReport> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone().report()
    }
}

fn tell(mut stream: impl Write, shared: &Shared) {
    let known = shared.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if let Some(report) = known.report() {
        let json = serde_json::to_vec(&report).expect("a status is plain data");
        let _ = stream.write_all(&json); // whoever asked may be gone
    }
}

/// Asks the host whose status socket is at `address`; `None` if it has not begun yet.
///
/// # Errors
/// If nobody answers within `timeout`, or the answer is not a status.
pub fn ask(address: &str, timeout: Duration) -> io::Result<Option<StatusReport>> {
    let mut text = String::new();
    match address.parse::<SocketAddr>() {
        Ok(socket) => {
            let mut stream = TcpStream::connect_timeout(&socket, timeout)?;
            stream.set_read_timeout(Some(timeout))?;
            stream.read_to_string(&mut text)?;
        }
        Err(_) => {
            let mut stream = UnixStream::connect(address)?;
            stream.set_read_timeout(Some(timeout))?;
            stream.read_to_string(&mut text)?;
        }
    }
    if text.is_empty() {
        return Ok(None);
    }
    serde_json::from_str(&text).map(Some).map_err(io::Error::other)
}
