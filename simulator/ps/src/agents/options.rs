//! Options of a run of a job's agents.

use std::time::Duration;

use inart_protocol_ps::{BatchRule, SyncModel};

/// Fingerprint of the model, which all processes share.
pub const MODEL: u64 = 77;

/// Synchronization.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sync {
    /// Workers by a synchronization model.
    Order(SyncModel),
    /// Clients in groups (FL-R²SP).
    Groups {
        /// M, the number of groups.
        groups: usize,
        /// C, above 0 and at most 1.
        fraction: f64,
        /// r, from 0 to 1.
        relaxation: f64,
    },
}

impl Sync {
    /// Returns the name of the synchronization.
    pub fn name(&self) -> &'static str {
        match self {
            Sync::Order(sync_model) => sync_model.name(),
            Sync::Groups { .. } => "fl-r2sp",
        }
    }
}

/// Options of a run of a job's agents. Unlisted timeouts are those of `inart order-server`.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentOptions {
    /// Synchronization.
    pub sync: Sync,
    /// Rule of batch tuning; `None` for fixed batches.
    pub tuning: Option<BatchRule>,
    /// Iterations of each worker, or rounds of each group; at least 2.
    pub iterations: u32,
    /// Seed of compute times, updates and losses.
    pub seed: u64,
    /// Chunks of the model and of an update; at least 1.
    pub chunks: u32,
    /// Longest wait of the server for an update before its worker times out.
    pub patience: Duration,
    /// Longest time of a worker without a connection before it times out.
    pub absence: Duration,
    /// Longest wait of a starting server for all workers.
    pub gather: Duration,
}

impl AgentOptions {
    /// Returns options for that many iterations: seed 1, 32 chunks, fixed batches.
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
