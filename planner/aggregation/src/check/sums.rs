//! Walks a shard from the workers to the server, sum by sum: every gradient must be in the server's sum
//! exactly once.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::graph::Shard;
use super::network::Network;
use super::violation::Findings;
use crate::plan::WORKERS_PER_SUM;
use inart_topologies::switched::{Job, NodeId};

/// Sum at a switch or the server.
#[derive(Default)]
struct Sum {
    /// The workers in it, each as often as it is in it.
    workers: Vec<NodeId>,
    /// Largest number of earlier aggregations of its gradients.
    depth: usize,
    /// Number of its incoming sums that are not computed yet.
    awaited: usize,
}

/// Finds the violations in a shard's sums, and the number of frames of each.
pub(super) fn walk(
    network: &Network<'_>,
    job: &Job,
    levels: u8,
    shard: &mut Shard<'_>,
    findings: &mut Findings,
) {
    let server = shard.server;
    let trunk = |v: NodeId| format!("trunk {} to {}", network.name(v), network.name(server));
    let mut sums: BTreeMap<NodeId, Sum> = BTreeMap::from([(server, Sum::default())]);
    let mut onward: HashMap<NodeId, usize> = HashMap::new();
    for (at, leg) in shard.legs.iter().enumerate() {
        let sum = sums.entry(leg.end).or_default();
        match leg.stated {
            None => sum.workers.push(leg.source),
            Some(_) => {
                sum.awaited += 1;
                onward.insert(leg.source, at);
                sums.entry(leg.source).or_default();
            }
        }
    }
    let mut ready: Vec<NodeId> = sums.iter().filter(|(_, sum)| sum.awaited == 0).map(|(&v, _)| v).collect();
    let mut made: BTreeSet<NodeId> = BTreeSet::new();
    while let Some(v) = ready.pop() {
        made.insert(v);
        if v == server {
            continue;
        }
        let sum = &sums[&v];
        let (depth, workers) = (sum.depth + 1, sum.workers.clone());
        if depth > usize::from(levels) {
            let problem = format!(
                "a gradient is summed there for the {depth}{} time, in a plan of {levels} level{}",
                ordinal(depth),
                if levels == 1 { "" } else { "s" }
            );
            findings.wrong(&trunk(v), problem);
        }
        let Some(&at) = onward.get(&v) else {
            findings.wrong(&trunk(v), "missing: gradients are summed there, but the sum goes nowhere");
            continue;
        };
        let leg = &mut shard.legs[at];
        leg.frames = workers.len().div_ceil(WORKERS_PER_SUM);
        compare(network, &leg.place, leg.stated.unwrap_or_default(), &workers, findings);
        let next = sums.get_mut(&leg.end).expect("every leg's end is in the map");
        next.workers.extend(workers);
        next.depth = next.depth.max(depth);
        next.awaited -= 1;
        if next.awaited == 0 {
            ready.push(leg.end);
        }
    }
    let circle: Vec<NodeId> = sums.keys().copied().filter(|v| *v != server && !made.contains(v)).collect();
    for v in &circle {
        findings.wrong(&trunk(*v), "its sum goes in a cycle, or waits for one that does");
    }
    // Sums that wait for a cycle are reported where they wait.
    if circle.is_empty() {
        arrives(network, job, shard, &sums[&server].workers, findings);
    }
}

/// Checks that every worker of the job arrives once.
fn arrives(network: &Network<'_>, job: &Job, shard: &Shard<'_>, workers: &[NodeId], findings: &mut Findings) {
    let mut times: HashMap<NodeId, usize> = HashMap::new();
    workers.iter().for_each(|&worker| *times.entry(worker).or_default() += 1);
    for &worker in &job.workers {
        let place = || format!("flow {} to {}", network.name(worker), network.name(shard.server));
        match times.get(&worker) {
            Some(1) => {}
            Some(n) => findings.wrong(&place(), format!("its gradient is in the server's sum {n} times")),
            None if shard.legs.iter().any(|leg| leg.source == worker) => {
                findings.wrong(&place(), "its gradient is not in the server's sum")
            }
            None => {} // reported as missing, or as having no path
        }
    }
}

/// Checks that the workers of a trunk are those in its sum, each once.
fn compare(
    network: &Network<'_>,
    place: &str,
    stated: &[String],
    summed: &[NodeId],
    findings: &mut Findings,
) {
    if summed.is_empty() {
        return findings.wrong(place, "no gradient is summed there");
    }
    let named: BTreeSet<NodeId> = stated.iter().filter_map(|name| network.node(name)).collect();
    let distinct: BTreeSet<NodeId> = summed.iter().copied().collect();
    if named != distinct || stated.len() != distinct.len() {
        findings.wrong(place, "its workers are not those whose gradients are summed there");
    }
    if distinct.len() != summed.len() {
        findings.wrong(place, "a gradient is in its sum twice");
    }
}

fn ordinal(n: usize) -> &'static str {
    match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    }
}
