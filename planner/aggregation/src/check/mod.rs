//! Checks a plan against its topology from the plan's text alone. Shares no code with the schemes: it uses
//! only the topology, the plan, and the definition of a sum.
//!
//! For each shard the text is a graph: workers send, switches sum the flows that end at them, the server is
//! the sink; from the server results follow a tree with copies at its branches. `graph` reads it, `sums` and
//! `results` walk it, to any depth, `loads` computes its demand on every resource, and `numbers` compares
//! that with the plan's numbers.

mod attainable;
mod demand;
mod graph;
mod loads;
mod network;
mod numbers;
mod passes;
mod results;
mod shares;
mod sums;
mod tolerance;
mod violation;

use crate::plan::Plan;
pub(crate) use attainable::sustainable_next_to;
pub use attainable::{Sustainable, held_by_results, sustainable_rate};
use demand::demand_of;
use inart_topologies::switched::Topology;
use network::Network;
pub(crate) use tolerance::TOLERANCE;
use violation::Findings;
pub use violation::Violation;

/// Verifies every constraint, path, sum, tree of results, share, load and the rate of a plan.
///
/// Limits that the plan states to ignore ([`Plan::ignores`]) may be exceeded.
///
/// # Errors
///
/// All violations, of the structure before the numbers: numbers are meaningless for an invalid structure.
pub fn check(topology: &Topology, plan: &Plan) -> Result<(), Vec<Violation>> {
    examine(topology, plan).map(drop)
}

/// Use of a limited resource by a valid plan.
pub(crate) struct Use {
    pub resource: String,
    /// Use at the plan's rate.
    pub used_bps: f64,
    /// Capacity without background traffic, for this plan and all others.
    pub capacity_bps: f64,
    /// Whether the plan ignores the limit.
    pub ignored: bool,
}

/// Checks like [`check`], and returns the plan's use of resources.
pub(crate) fn examine(topology: &Topology, plan: &Plan) -> Result<Vec<Use>, Vec<Violation>> {
    let network = Network::new(topology);
    let mut findings = Findings::default();
    let demand = demand_of(&network, plan, &mut findings).map_err(|other| vec![other])?;
    if !findings.is_empty() {
        return Err(findings.all());
    }
    numbers::compare(&network, plan, &demand, &mut findings);
    if !findings.is_empty() {
        return Err(findings.all());
    }
    let uses = demand.iter().filter_map(|(&resource, per_bit)| {
        Some(Use {
            resource: network.resource_name(resource),
            used_bps: per_bit * plan.rate_bps,
            capacity_bps: network.capacity(resource)?,
            ignored: network.ignores(plan, resource),
        })
    });
    Ok(uses.collect())
}
