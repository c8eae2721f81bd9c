//! Walks the paths of results: from each server a tree with copies at its branches, which reaches every
//! worker of the job once.

use std::collections::{BTreeSet, HashSet};

use super::network::Network;
use super::violation::Findings;
use crate::choices::Paths;
use crate::plan::{Plan, ResultTree};
use inart_topologies::switched::{Job, NodeId};

/// Trees of servers that the job does not have.
pub(super) fn strangers(network: &Network<'_>, job: &Job, plan: &Plan, findings: &mut Findings) {
    for tree in &plan.results {
        if !network.node(&tree.server).is_some_and(|server| job.servers.contains(&server)) {
            findings.wrong(&place(&tree.server), "this is not a server of the job");
        }
    }
}

/// Finds the violations in the tree of one server. Plans that do not count results may have no trees.
pub(super) fn walk(network: &Network<'_>, job: &Job, plan: &Plan, server: NodeId, findings: &mut Findings) {
    let place = place(network.name(server));
    let mut of_server = plan.results.iter().filter(|tree| tree.server == network.name(server));
    match (of_server.next(), of_server.next()) {
        (Some(_), Some(_)) => findings.wrong(&place, "listed twice"),
        (Some(tree), None) => {
            of_tree(network, job, tree, server, findings);
            if plan.paths == Some(Paths::Shortest) {
                detours(network, tree, server, findings);
            }
        }
        (None, _) if plan.results_counted || !plan.results.is_empty() => findings.wrong(&place, "missing"),
        (None, _) => {}
    }
}

fn place(server: &str) -> String {
    format!("results of {server}")
}

/// Finds links of a tree whose end is not farther from the server.
fn detours(network: &Network<'_>, tree: &ResultTree, server: NodeId, findings: &mut Findings) {
    for [from, to] in &tree.links {
        let (Some(a), Some(b)) = (network.node(from), network.node(to)) else { continue };
        let [near, far] = [a, b].map(|node| network.distance(node, server));
        if near == usize::MAX || far != near + 1 {
            let problem = format!("the link {from}-{to} does not lead away from the server");
            findings.wrong(&place(&tree.server), problem + ", in a plan over shortest paths");
        }
    }
}

fn of_tree(network: &Network<'_>, job: &Job, tree: &ResultTree, server: NodeId, findings: &mut Findings) {
    let place = place(&tree.server);
    let named = |[from, to]: &[String; 2]| Some([network.node(from)?, network.node(to)?]);
    let links: Option<Vec<[NodeId; 2]>> = tree.links.iter().map(named).collect();
    let Some(links) = links else { return findings.wrong(&place, "a link of theirs names an unknown node") };
    let ends: HashSet<NodeId> = links.iter().map(|&[_, to]| to).collect();
    let mut fed: BTreeSet<NodeId> = BTreeSet::from([server]);
    for &[from, to] in &links {
        let (a, b) = (network.name(from), network.name(to));
        if !network.is_link(from, to) {
            findings.wrong(&place, format!("there is no link {a}-{b}"));
        }
        if from != server && !network.is_switch(from) {
            findings.wrong(&place, format!("{a}, a host, sends them on to {b}, and does not forward"));
        }
        if !fed.contains(&from) {
            let problem = match ends.contains(&from) {
                true => format!("the link {a}-{b} precedes the link to {a}, or is part of a cycle"),
                false => format!("no link reaches {a}, which forwards them to {b}"),
            };
            findings.wrong(&place, problem);
        }
        if !fed.insert(to) {
            findings.wrong(&place, format!("{b} gets them twice"));
        }
    }
    let inner: HashSet<NodeId> = links.iter().map(|&[from, _]| from).collect();
    let workers: HashSet<NodeId> = job.workers.iter().copied().collect();
    for &leaf in ends.iter().filter(|end| !inner.contains(end) && !workers.contains(end)) {
        findings.wrong(&place, format!("the branch to {} leads to no worker of the job", network.name(leaf)));
    }
    for &worker in job.workers.iter().filter(|worker| !fed.contains(worker)) {
        findings.wrong(&place, format!("worker {} receives none", network.name(worker)));
    }
}
