//! Options of ports, and the errors of opening them.

use std::path::PathBuf;

use thiserror::Error;

use crate::control::Port;

/// Options for opening a switch's ports.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Ports and the interfaces they stand for.
    pub interfaces: Vec<(Port, String)>,
    /// The network namespace the interfaces are in, such as `/run/netns/NAME` or `/proc/PID/ns/net`; the
    /// caller's own if `None`.
    pub namespace: Option<PathBuf>,
    /// Frames to this port are packet-ins, see [`Event::PacketIn`](super::Event::PacketIn).
    pub cpu_port: Option<Port>,
    /// Sends past the interfaces' queueing discipline. Quicker, but nothing shapes the traffic then.
    pub bypass_queueing: bool,
}

/// Reason that ports cannot be opened. One line that names the port and the fix.
#[derive(Debug, Error)]
pub enum PortError {
    /// No such interface.
    #[error("port {port}: there is no network interface {interface}{}", at(.namespace))]
    NoInterface {
        /// The port.
        port: Port,
        /// Interface.
        interface: String,
        /// Namespace of the search.
        namespace: Option<PathBuf>,
    },
    /// A port number that cannot be used.
    #[error("port {port}: {problem}")]
    BadPort {
        /// The port.
        port: Port,
        /// Problem.
        problem: &'static str,
    },
    /// The namespace cannot be entered.
    #[error("network namespace {}: {error}", .namespace.display())]
    Namespace {
        /// The namespace's file.
        namespace: PathBuf,
        /// Error of the system.
        error: std::io::Error,
    },
    /// Raw sockets need privileges.
    #[error("port {port}, interface {interface}: {error}{}", privilege(.error))]
    Socket {
        /// The port.
        port: Port,
        /// Interface.
        interface: String,
        /// Error of the system.
        error: std::io::Error,
    },
    /// A thread or event descriptor could not be made.
    #[error("cannot start the switch's thread: {0}")]
    Thread(std::io::Error),
}

fn at(namespace: &Option<PathBuf>) -> String {
    namespace.as_ref().map(|namespace| format!(" in namespace {}", namespace.display())).unwrap_or_default()
}

fn privilege(error: &std::io::Error) -> &'static str {
    match error.kind() {
        std::io::ErrorKind::PermissionDenied => "; raw sockets need root or CAP_NET_RAW",
        _ => "",
    }
}
