//! Options of a run.

use inart_planner_sites::{AuxiliaryUse, Options as PlanOptions, Sharing};

/// Knowledge of the scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Knowledge {
    /// Rates at the start.
    Static,
    /// Measurements of sites.
    Passive,
}

/// Time 0 of the traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Traces {
    /// Start of the processes.
    FromTheStart,
    /// Start of the first round with values at the first site.
    FromTheFirstRound,
}

/// Options of a run.
#[derive(Debug, Clone)]
pub struct Options {
    /// Options of the planner.
    pub plan: PlanOptions,
    /// Use of auxiliary paths, where the plan has them.
    pub auxiliary: AuxiliaryUse,
    /// Sharing of links between chunks: fluid lanes, or one by one in the senders' order.
    pub sharing: Sharing,
    /// Time at which rates start to follow their traces.
    pub traces: Traces,
    /// Knowledge of the scheduler.
    pub knowledge: Knowledge,
    /// Rate of a link that no site has measured, in bit/s.
    pub prior_bps: f64,
    /// Time between a sum and the next gradient of a site, in seconds.
    pub compute_s: f64,
    /// Number of rounds.
    pub rounds: u32,
    /// Length of the training program's state, in bytes, which a restarted site loads from another one.
    pub state_bytes: usize,
    /// Seed of the gradients, and of the messages of impersonating sites.
    pub seed: u64,
}
