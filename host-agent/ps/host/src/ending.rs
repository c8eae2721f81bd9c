//! The end of a worker's process.

use inart_connections::Connections;
use inart_ps_agent::WorkerCounters;

/// The end of a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// Last version of the model.
    pub version: u64,
    /// Reason of an exclusion by the server.
    pub left_out: Option<String>,
    /// Drop counters.
    pub counters: WorkerCounters,
    /// Counters of the connection.
    pub connections: Connections,
}
