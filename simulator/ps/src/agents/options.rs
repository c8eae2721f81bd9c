//! How a job's agents are run.

use std::time::Duration;

use inart_protocol_ps::{BatchRule, SyncModel};

/// The fingerprint of the model, which all processes share.
pub const MODEL: u64 = 77;

/// Who decides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sync {
    /// Workers one by one, or all together.
    Order(SyncModel),
    /// Clients in groups (FL-R²SP).
    Groups {
        /// M.
        groups: usize,
        /// C, above 0 and at most 1.
        fraction: f64,
        /// r, from 0 to 1.
        relaxation: f64,
    },
}

impl Sync {
    /// Returns the order's name.
    pub fn name(&self) -> &'static str {
        match self {
            Sync::Order(sync_model) => sync_model.name(),
            Sync::Groups { .. } => "fl-r2sp",
        }
    }
}

/// How a job's agents are run. Times that are not given are those of `inart order-server`.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentOptions {
    /// Who decides.
    pub sync: Sync,
    /// Whether and how batches are tuned.
    pub tuning: Option<BatchRule>,
    /// Iterations of each worker, or rounds of each group; at least 2.
    pub iterations: u32,
    /// Decides the times to compute, the updates, and what is lost.
    pub seed: u64,
    /// Chunks of the model and of an update; at least 1.
    pub chunks: u32,
    /// How long the server waits for an update before it gives its worker up.
    pub patience: Duration,
    /// How long a worker may be without a connection before the server gives it up.
    pub absence: Duration,
    /// How long a server that starts waits for all workers before it begins.
    pub gather: Duration,
}

impl AgentOptions {
    /// Returns options for that many iterations: seed 1, 32 chunks, batches that stay.
    pub fn new(sync: Sync, iterations: u32) -> Self {
        AgentOptions {
            sync,
            tuning: None,
            iterations,
            seed: 1,
            chunks: 32,
            patience: Duration::from_secs(600),
            absence: Duration::from_secs(10),
            gather: Duration::from_secs(60),
        }
    }
}
