//! How a worker's process ends.

use inart_order_agent::WorkerCounters;

use crate::connections::Connections;

/// How a worker ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    /// The model's last version.
    pub version: u64,
    /// What it has dropped.
    pub counters: WorkerCounters,
    /// What its connection has counted.
    pub connections: Connections,
}
