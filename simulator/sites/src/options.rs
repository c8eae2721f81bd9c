//! What is run.

use inart_planner_sites::{AuxiliaryUse, Options as PlanOptions, Sharing};

/// Knowledge of the scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Knowledge {
    /// The rates at the start.
    Static,
    /// What sites measure.
    Passive,
}

/// When traces begin, whose time 0 is then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Traces {
    /// When the processes start.
    FromTheStart,
    /// When the first site begins the first round with values.
    FromTheFirstRound,
}

/// Options of a run.
#[derive(Debug, Clone)]
pub struct Options {
    /// How to plan.
    pub plan: PlanOptions,
    /// How auxiliary paths are used, where the plan has them.
    pub auxiliary: AuxiliaryUse,
    /// How chunks share a link: by fluid lanes, or one by one in the order that senders choose.
    pub sharing: Sharing,
    /// When rates begin to follow their traces.
    pub traces: Traces,
    /// Knowledge of the scheduler.
    pub knowledge: Knowledge,
    /// Rate of a link that no site has measured, in bit/s.
    pub prior_bps: f64,
    /// Time that a site takes from a sum to its next gradient, in seconds.
    pub compute_s: f64,
    /// Number of rounds.
    pub rounds: u32,
    /// Length of the training program's state, in bytes, which a site that restarts loads from another one.
    pub state_bytes: usize,
    /// Decides the gradients, and what sites that speak as others send.
    pub seed: u64,
}
