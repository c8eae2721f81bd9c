//! Outcome of a run of agents.

use serde::Serialize;

/// A fault that has occurred.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FaultRecord {
    /// Time in seconds.
    pub at_s: f64,
    /// Description.
    pub fault: String,
}

/// A run of agents. Every number is in virtual time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgentRun {
    /// Name of the synchronization.
    pub sync: &'static str,
    /// Mean time between a worker's updates, or between a group's aggregations, in seconds. The first third,
    /// or the first three rounds of each group, are not counted.
    pub iteration_s: f64,
    /// Length of the run, in seconds.
    pub seconds: f64,
    /// Versions of the model, each summed again.
    pub versions: u64,
    /// Updates that were applied, each compared with the one that was computed.
    pub updates: u64,
    /// Values that were compared, all equal.
    pub values_compared: u64,
    /// Mean staleness of all updates that were applied, in versions.
    pub staleness: f64,
    /// The greatest staleness.
    pub staleness_most: u64,
    /// Checked bound on staleness; `None` for a synchronization without one.
    pub staleness_bound: Option<u64>,
    /// Updates that were computed and never arrived, each explained by a fault.
    pub wasted_updates: u64,
    /// Updates that a crashed server had and had not applied.
    pub lost_updates: u64,
    /// Workers that timed out.
    pub given_up: u64,
    /// Processes that were killed.
    pub kills: u64,
    /// Connections that ended.
    pub disconnected: u64,
    /// Messages and answers that were lost.
    pub lost_messages: u64,
    /// Chunks that workers retransmitted.
    pub sent_again: u64,
    /// Chunks and messages that were duplicates, or belonged to another incarnation or permission, and were
    /// dropped.
    pub dropped: u64,
    /// Faults that have occurred.
    pub faults: Vec<FaultRecord>,
}
