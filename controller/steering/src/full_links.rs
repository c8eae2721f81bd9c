//! What others send over links that are full.
//!
//! A full link carries less of others than they send, as it carries less of ours than plans say. Were what
//! ours lack all lost in the queue, others would lose the same part of what they send. Were it all held back
//! by our hosts, which slow down by themselves, others would lose nothing. Which of the two it is, counters
//! do not tell, so the geometric mean of both is taken. A plan made for what others get there would fill the
//! link again.

use std::collections::BTreeMap;

use inart_planner_aggregation::Plan;
use inart_topologies::switched::Topology;

use crate::observation::Observation;

/// The part of its rate that a full link carries.
const FULL: f64 = 0.95;

/// The observation, with what others send over full links, as it follows from what these plans send there: at
/// most all of the link.
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
