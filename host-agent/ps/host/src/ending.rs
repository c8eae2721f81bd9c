//! How a worker's process ends.

use inart_connections::Connections;
use inart_ps_agent::WorkerCounters;

/// How a worker ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// The model's last version.
    pub version: u64,
    /// Why the server has left it out, if it has.
    pub left_out: Option<String>,
    /// What it has dropped.
    pub counters: WorkerCounters,
    /// What its connection has counted.
    pub connections: Connections,
}
