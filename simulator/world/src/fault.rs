//! Faults of processes, connections and links.

use inart_connections::PeerNo;

/// A fault, or the end of one.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault<C> {
    /// Crash of a process. No peer is notified.
    Kill(PeerNo),
    /// Start of a process, unless it runs.
    Start(PeerNo),
    /// End of all connections of a process, which are then made again.
    Disconnect(PeerNo),
    /// Change of the links.
    Links(C),
}
