//! A scheme that only tests have: every gradient takes a shortest path to the server, and is aggregated at
//! each switch where several paths meet.

use std::collections::{BTreeMap, BTreeSet};

use inart_planner_aggregation::{Plan, PlanError, Problem, Promises, Scheme, Shares};
use inart_topologies::switched::{NodeId, NodeKind};

/// Scheme that sums wherever paths meet.
pub struct Meeting;

impl Scheme for Meeting {
    fn name(&self) -> &'static str {
        "meeting"
    }

    fn summary(&self) -> &'static str {
        "a toy: sums gradients wherever their ways meet"
    }

    fn promises(&self) -> Promises {
        Promises { levels: 9, shares: Shares::Free, ..Promises::default() }
    }

    fn plan(&self, problem: &Problem<'_>) -> Result<Plan, PlanError> {
        let mut draft = problem.draft();
        let job = problem.job();
        for &server in &job.servers {
            let onward = tree(problem, server);
            let mut into: BTreeMap<NodeId, usize> = BTreeMap::new();
            onward.values().for_each(|&next| *into.entry(next).or_default() += 1);
            let is_switch = |node: NodeId| problem.topology().node(node).kind == NodeKind::Switch;
            let sums =
                |node: NodeId| is_switch(node) && into.get(&node) > Some(&1) && problem.node_bps(node) > 0.0;
            // From a node to the next aggregation point of its unit.
            let way = |start: NodeId| {
                let mut path = vec![start];
                let mut node = start;
                while node != server {
                    node = onward[&node];
                    path.push(node);
                    if sums(node) {
                        break;
                    }
                }
                path
            };
            for &worker in &job.workers {
                draft.flow(worker, server, way(worker));
            }
            for &switch in onward.keys().filter(|&&node| sums(node)) {
                draft.trunk(switch, server, way(switch));
            }
            draft.results(server, back(server, &onward));
        }
        draft.plan()
    }
}

/// A tree of shortest paths: from every node that a worker's gradient passes to the next one.
fn tree(problem: &Problem<'_>, server: NodeId) -> BTreeMap<NodeId, NodeId> {
    let mut onward = BTreeMap::new();
    for &worker in &problem.job().workers {
        let path = problem.path(worker, server, |_, _| 1.0).expect("every worker reaches every server");
        for hop in path.windows(2) {
            onward.entry(hop[0]).or_insert(hop[1]);
        }
    }
    onward
}

/// Returns the same tree from its root on.
fn back(server: NodeId, onward: &BTreeMap<NodeId, NodeId>) -> Vec<[NodeId; 2]> {
    let mut links = Vec::new();
    let mut reached = BTreeSet::from([server]);
    while links.len() < onward.len() {
        for (&node, &next) in onward {
            if reached.contains(&next) && reached.insert(node) {
                links.push([next, node]);
            }
        }
    }
    links
}
