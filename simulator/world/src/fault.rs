//! Faults of processes, connections and links.

use inart_connections::PeerNo;

/// A fault, or the end of one.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault<C> {
    /// A process is killed. No peer is notified.
    Kill(PeerNo),
    /// A process starts again, unless it runs.
    Start(PeerNo),
    /// All connections of a process end, and are made again.
    Disconnect(PeerNo),
    /// The links change.
    Links(C),
}
