//! Settings of an emulation of sites.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use inart_planner_sites::Options as PlanOptions;
use inart_simulator_sites::ideal::Knowledge;
use inart_topologies::sites::Overlay;

use crate::machine::scale::Scaling;

/// Gradients of sites.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Workload {
    /// The gradients of a real model; images per site and round.
    Training {
        /// Images per site and round.
        batch: usize,
    },
    /// Random numbers.
    Random,
}

/// A method of summing, with a name.
#[derive(Debug, Clone)]
pub struct Variant {
    /// As in tables.
    pub name: String,
    /// The method.
    pub method: Method,
}

/// A way to sum.
#[derive(Debug, Clone)]
pub enum Method {
    /// Sites with a scheduler.
    Planned {
        /// Options of the planner.
        plan: PlanOptions,
        /// Flags of sites and `inart scheduler` for these options.
        flags: Vec<String>,
    },
    /// A ring by Gloo, on random gradients, over routes of the fewest hops: what a user would take without
    /// InArt. The Python that has torch.
    Gloo {
        /// As a path, or a name on PATH.
        python: PathBuf,
    },
}

/// Settings of an emulation of sites.
#[derive(Debug, Clone)]
pub struct Setting {
    /// The network, scaled already, with one job.
    pub overlay: Arc<Overlay>,
    /// By how much.
    pub scale: Scaling,
    /// The ways to plan.
    pub variants: Vec<Variant>,
    /// Gradients that are summed.
    pub workload: Workload,
    /// As many rounds as begin within this time in virtual time, of the scaled network.
    pub duration: Duration,
    /// No more rounds than this.
    pub most_rounds: u32,
    /// Decides data, weights and losses.
    pub seed: u64,
    /// Knowledge of the scheduler: the rates that sites measure, or the rates at the start.
    pub knowledge: Knowledge,
    /// Rate of a link without measurement, in bit/s.
    pub prior_bps: f64,
    /// The `inart` program.
    pub program: PathBuf,
    /// Congestion control of connections: cubic or bbr.
    pub congestion: String,
}
