//! Demand of a plan on every resource, computed from its graph.

use std::collections::BTreeMap;

use super::graph::Shard;
use super::network::{Network, Resource};
use crate::plan::Plan;

/// Returns the demand on each used resource per bit/s of the plan's rate.
pub(super) fn of_plan(network: &Network<'_>, plan: &Plan, shards: &[Shard<'_>]) -> BTreeMap<Resource, f64> {
    let mut demand: BTreeMap<Resource, f64> = BTreeMap::new();
    for shard in shards {
        for leg in &shard.legs {
            let amount = leg.frames as f64 * shard.share;
            for hop in leg.path.windows(2) {
                *demand.entry(Resource::Arc(hop[0], hop[1])).or_default() += amount;
            }
            *demand.entry(Resource::Node(leg.end)).or_default() += amount;
        }
        let tree = plan.results.iter().find(|tree| tree.server == network.name(shard.server));
        for [from, to] in tree.iter().filter(|_| plan.results_counted).flat_map(|tree| &tree.links) {
            if let (Some(from), Some(to)) = (network.node(from), network.node(to)) {
                *demand.entry(Resource::Arc(from, to)).or_default() += shard.share;
            }
        }
    }
    demand.retain(|_, per_bit| *per_bit > 0.0);
    demand
}
