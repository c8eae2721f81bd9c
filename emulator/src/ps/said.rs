//! What processes say, and which of them was killed when.

use std::collections::{BTreeMap, BTreeSet};

use inart_ps_agent::Kept;
use serde::Deserialize;

/// An update that a worker has computed. Times are on the system's monotonic clock, in nanoseconds.
#[derive(Debug, Clone, Deserialize)]
pub struct Sent {
    /// SHA-256 of its bits, as they arrive.
    pub sent: String,
    pub iteration: u64,
    pub batch: usize,
    /// The version that it was computed from, and SHA-256 of its bits as they arrived.
    pub base: u64,
    pub model: String,
    /// When the worker began to compute it.
    pub began_ns: u64,
    /// How often its worker had been started again before.
    #[serde(skip)]
    pub process: usize,
}

/// An update that has arrived at the server.
#[derive(Debug, Clone, Deserialize)]
pub struct Pushed {
    /// SHA-256 of its bits.
    pub pushed: String,
    pub worker: String,
    pub iteration: u64,
    pub base: u64,
    pub at_ns: u64,
    /// How often the server had been started again before.
    #[serde(skip)]
    pub life: usize,
}

/// Updates that the server has applied.
#[derive(Debug, Clone, Deserialize)]
pub struct Applied {
    /// The version that the model has then.
    pub applied: u64,
    /// SHA-256 of the model's bits; none if another version has followed at once.
    pub model: Option<String>,
    pub updates: Vec<AppliedUpdate>,
    pub at_ns: u64,
    /// How often the server had been started again before.
    #[serde(skip)]
    pub life: usize,
}

/// One of them.
#[derive(Debug, Clone, Deserialize)]
pub struct AppliedUpdate {
    pub worker: String,
    pub iteration: u64,
    pub staleness: u64,
    pub scale: f64,
}

/// A worker begins to pull.
#[derive(Debug, Clone, Deserialize)]
pub struct Pulls {
    pub pulls: String,
    pub at_ns: u64,
}

/// The server has given a worker up.
#[derive(Debug, Clone, Deserialize)]
pub struct Gone {
    pub gone: String,
    pub at_ns: u64,
}

/// What the server says in the end.
#[derive(Debug, Clone, Deserialize)]
pub struct Counted {
    /// Updates that were discarded, since their values were refused.
    pub refused: u64,
    /// r at the end; of workers.
    pub relaxation: Option<f64>,
    /// Of clients: models that came after their round.
    #[serde(default)]
    pub late: u64,
    /// Of clients: those that were left out for their data.
    #[serde(default)]
    pub left_out: Vec<String>,
    /// Packets that were dropped as they had come before, or nothing stands behind them.
    pub dropped: u64,
}

/// A line of a process.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Line {
    Sent(Sent),
    Pushed(Pushed),
    Applied(Applied),
    Pulls(Pulls),
    Gone(Gone),
    Counted(Counted),
    Other(serde_json::Value),
}

/// A server that was killed and started again.
#[derive(Debug, Clone)]
pub struct Restart {
    /// When it was started again.
    pub at_ns: u64,
    /// What the one before had kept; none if it had no version but the first.
    pub kept: Option<Kept>,
}

/// What processes have said.
#[derive(Debug, Default)]
pub struct Said {
    /// By worker and iteration, each copy.
    pub sent: BTreeMap<(usize, u64), Vec<Sent>>,
    pub pushed: Vec<Pushed>,
    pub applied: Vec<Applied>,
    pub pulls: Vec<Pulls>,
    pub gone: Vec<Gone>,
    pub counted: Option<Counted>,
    /// Processes of workers that were killed: whose, and how often it had been started again before.
    pub killed: BTreeSet<(usize, usize)>,
    /// Of the server.
    pub restarts: Vec<Restart>,
    /// Processes of workers that were started again.
    pub returned: usize,
}
