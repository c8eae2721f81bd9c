//! Rate of a plan on a network that has changed since it was planned.

use crate::plan::Plan;
use inart_topologies::switched::Topology;

use super::demand::demand_of;
use super::network::Network;
use super::tolerance::TOLERANCE;
use super::violation::{Findings, Violation};

/// Sustainable rate of a plan on the current network.
#[derive(Debug, Clone, PartialEq)]
pub struct Sustainable {
    /// Rate at which every worker can send its whole gradient without overload, bit/s; 0 if the plan uses
    /// missing nodes or links.
    pub rate_bps: f64,
    /// Limit: a resource, as in [`crate::plan::Load`], or a description of the missing part.
    pub limit: String,
}

/// Returns the rate that `plan` alone has on `topology`, independent of its stated rate: the least rate of
/// its paths, or 0 if a part of them is missing.
///
/// # Errors
/// A plan that is of another network or job.
pub fn sustainable_rate(topology: &Topology, plan: &Plan) -> Result<Sustainable, Violation> {
    sustainable_next_to(topology, plan, &[])
}

/// Returns the rate at which results and gradients of a plan that does not count its results fit every link,
/// next to the plan's other jobs. `None` if that is at least the plan's rate, or if the plan counts results
/// or states no trees.
pub fn held_by_results(topology: &Topology, plan: &Plan) -> Option<Sustainable> {
    if plan.results_counted || plan.results.is_empty() {
        return None;
    }
    let counted = Plan { results_counted: true, ..plan.clone() };
    let network = Network::new(topology);
    let mut findings = Findings::default();
    let demand = demand_of(&network, &counted, &mut findings).ok().filter(|_| findings.is_empty())?;
    let limits = demand.iter().filter(|&(&resource, _)| !network.ignores(plan, resource));
    let limits = limits.filter_map(|(&resource, per_bit)| {
        let name = network.resource_name(resource);
        let others = plan.other_jobs.iter().filter(|other| other.resource == name);
        let taken: f64 = others.map(|other| other.used_bps).sum();
        Some(((network.capacity(resource)? - taken).max(0.0) / per_bit, name))
    });
    let (rate_bps, limit) = limits.min_by(|a, b| a.0.total_cmp(&b.0))?;
    (rate_bps < plan.rate_bps * (1.0 - TOLERANCE)).then_some(Sustainable { rate_bps, limit })
}

/// Returns the rate of a plan next to other plans that send at these rates (bit/s).
pub(crate) fn sustainable_next_to(
    topology: &Topology,
    plan: &Plan,
    others: &[(&Plan, f64)],
) -> Result<Sustainable, Violation> {
    let network = Network::new(topology);
    let mut findings = Findings::default();
    let demand = demand_of(&network, plan, &mut findings)?;
    if let Some(missing) = findings.all().first() {
        return Ok(Sustainable { rate_bps: 0.0, limit: missing.to_string() });
    }
    let mut taken = std::collections::BTreeMap::new();
    for &(other, rate_bps) in others {
        // Parts of paths that are missing use no capacity.
        for (resource, per_bit) in demand_of(&network, other, &mut Findings::default())? {
            *taken.entry(resource).or_insert(0.0) += per_bit * rate_bps;
        }
    }
    let limits = demand.iter().filter(|&(&resource, _)| !network.ignores(plan, resource));
    let limits = limits.filter_map(|(resource, per_bit)| {
        let left = network.capacity(*resource)? - taken.get(resource).copied().unwrap_or(0.0);
        Some((left.max(0.0) / per_bit, *resource))
    });
    let least = limits.min_by(|a, b| a.0.total_cmp(&b.0));
    Ok(match least {
        Some((rate_bps, resource)) => Sustainable { rate_bps, limit: network.resource_name(resource) },
        None => Sustainable { rate_bps: plan.rate_bps, limit: String::new() },
    })
}
