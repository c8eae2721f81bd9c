//! Outcome of a run of agents.

use serde::Serialize;

/// A fault that has happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FaultRecord {
    /// When, in seconds.
    pub at_s: f64,
    /// What, in words.
    pub fault: String,
}

/// A run of agents. Every number is in virtual time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgentRun {
    /// The order.
    pub sync: &'static str,
    /// Mean time between a worker's updates, or between a group's aggregations, in seconds. The first third,
    /// or the first three rounds of each group, are not counted.
    pub iteration_s: f64,
    /// The run's length, in seconds.
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
    /// The bound that was checked; none for orders without one.
    pub staleness_bound: Option<u64>,
    /// Updates that were computed and never arrived, as a fault explains each.
    pub wasted_updates: u64,
    /// Updates that a killed server had and had not applied.
    pub lost_updates: u64,
    /// Workers that the server gave up.
    pub given_up: u64,
    /// Processes that were killed.
    pub kills: u64,
    /// Connections that ended.
    pub disconnected: u64,
    /// Messages and answers that were lost.
    pub lost_messages: u64,
    /// Chunks that were sent again by workers.
    pub sent_again: u64,
    /// Chunks and messages that arrived twice, or belonged to another incarnation or permission, and were
    /// dropped.
    pub dropped: u64,
    /// Faults that have happened.
    pub faults: Vec<FaultRecord>,
}
