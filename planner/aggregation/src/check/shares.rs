//! Partition of the gradient.

use std::collections::HashMap;

use super::network::Network;
use super::tolerance::{TOLERANCE, near};
use super::violation::Findings;
use crate::plan::Plan;
use inart_topologies::switched::{Job, NodeId};

/// Returns x_s by server: each server of the job once, from 0 to 1, summing to 1.
pub(super) fn of_plan(
    network: &Network<'_>,
    job: &Job,
    plan: &Plan,
    findings: &mut Findings,
) -> HashMap<NodeId, f64> {
    let mut shares = HashMap::new();
    for shard in &plan.shards {
        let place = format!("shard {}", shard.server);
        match network.node(&shard.server).filter(|id| job.servers.contains(id)) {
            None => findings.wrong(&place, "this is not a server of the job"),
            Some(id) if shares.insert(id, shard.share).is_some() => findings.wrong(&place, "listed twice"),
            Some(_) => {}
        }
        if !(shard.share.is_finite() && (0.0..=1.0 + TOLERANCE).contains(&shard.share)) {
            findings.wrong(&place, format!("its share is {}, not from 0 to 1", shard.share));
        }
    }
    for &server in job.servers.iter().filter(|server| !shares.contains_key(server)) {
        findings.wrong(&format!("shard {}", network.name(server)), "missing");
    }
    let sum: f64 = plan.shards.iter().map(|shard| shard.share).sum();
    if !near(sum, 1.0) {
        findings.wrong("shards", format!("the shares sum to {sum}, not to 1"));
    }
    shares
}
