//! Checks a plan against its topology from the plan's text alone. Shares no code with the schemes: it knows
//! the topology, the plan, and what a sum is.
//!
//! For each shard the text is a graph: workers send, switches make sums of what ends at them, the server ends
//! it; and back from the server results go over a tree with copies at its branches. `graph` reads it, `sums`
//! and `results` walk it, to any depth, `loads` counts what it puts on every resource, `numbers` compares
//! that with what the plan states.

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
pub(crate) use attainable::sustainable_beside;
pub use attainable::{Sustainable, held_by_results, sustainable_rate};
use demand::demand_of;
use inart_topologies::switched::Topology;
use network::Network;
pub(crate) use tolerance::TOLERANCE;
use violation::Findings;
pub use violation::Violation;

/// Verifies every constraint, path, sum, tree of results, share, load and the rate of a plan.
///
/// What the plan says that it ignores ([`Plan::ignores`]) is not held against it.
///
/// # Errors
/// All that is wrong, the structure before the numbers: those mean nothing while it is.
pub fn check(topology: &Topology, plan: &Plan) -> Result<(), Vec<Violation>> {
    examine(topology, plan).map(drop)
}

/// What a valid plan uses of a resource that has a limit.
pub(crate) struct Use {
    pub resource: String,
    /// At the plan's rate.
    pub used_bps: f64,
    /// What there is, background taken off, for this plan and all others.
    pub capacity_bps: f64,
    /// Whether the plan ignores the limit.
    pub ignored: bool,
}

/// Like [`check`]; says what the plan uses.
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
