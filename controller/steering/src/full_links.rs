//! Background traffic offered to full links.
//!
//! A full link carries less background traffic than others send, and less of ours than the plans say. If
//! our missing traffic were all lost in the queue, other traffic would lose the same part. If our hosts
//! held it all back by slowing down, other traffic would lose nothing. Counters do not distinguish the two
//! cases, so we take the geometric mean of both. A plan for the carried background traffic alone would fill
//! the link again.

use std::collections::BTreeMap;

use inart_planner_aggregation::Plan;
use inart_topologies::switched::Topology;

use crate::observation::Observation;

/// Utilization from which a link counts as full.
const FULL: f64 = 0.95;

/// Returns the observation with the background traffic offered to full links, as it follows from the load
/// of the plans there, at most the link's rate.
pub fn offered(topology: &Topology, plans: &[Plan], seen: &Observation) -> Observation {
    let mut planned: BTreeMap<&str, f64> = BTreeMap::new();
    for load in plans.iter().flat_map(|plan| &plan.load) {
        *planned.entry(&load.resource).or_default() += load.used_bps;
    }
    let mut offered = seen.clone();
    for (link, ends) in topology.links().iter().zip(&mut offered.links) {
        let [a, b] = link.ends.map(|id| &*topology.node(id).name);
        let ways = [[a, b], [b, a]].into_iter().zip(link.rates_bps);
        for (seen, ([from, to], rate_bps)) in ends.iter_mut().zip(ways) {
            let Some(seen) = seen else { continue };
            let planned_bps = planned.get(&*format!("link {from}->{to}")).copied().unwrap_or(0.0);
            let is_full = seen.ours_bps + seen.others_bps >= FULL * rate_bps;
            if is_full && seen.ours_bps > 0.0 && planned_bps > seen.ours_bps {
                let sent_bps = seen.others_bps * (planned_bps / seen.ours_bps).sqrt();
                seen.others_bps = sent_bps.min(rate_bps).max(seen.others_bps);
            }
        }
    }
    offered
}
