//! The way back of the results: for each server a tree to all workers of the job.

use std::collections::{BTreeSet, VecDeque};

use rustc_hash::FxHashMap;

use crate::model::{Arc, Model, NodeIx};
use crate::plan::ResultTree;

/// For each server the tree of shortest paths to the workers, over links as they are built; the first link of the topology wins
/// ties.
pub(crate) fn shortest(model: &Model<'_>) -> Vec<ResultTree> {
    let written = |&server: &NodeIx| write(model, server, &from_server(model, server));
    model.servers.iter().map(written).collect()
}

/// The arcs of a tree of shortest paths from `server` to all workers that it reaches, parents before children.
fn from_server(model: &Model<'_>, server: NodeIx) -> Vec<Arc> {
    let mut parent: FxHashMap<NodeIx, Arc> = FxHashMap::default();
    let mut order: Vec<NodeIx> = vec![server];
    let mut queue = VecDeque::from([server]);
    while let Some(node) = queue.pop_front() {
        if node != server && !model.forwards(node) {
            continue;
        }
        for &(arc, next) in model.arcs_built(node) {
            if next != server && !parent.contains_key(&next) {
                parent.insert(next, arc);
                order.push(next);
                queue.push_back(next);
            }
        }
    }
    let mut needed: BTreeSet<NodeIx> = BTreeSet::new();
    for &worker in &model.workers {
        let mut node = worker;
        while let Some(&arc) = parent.get(&node).filter(|_| needed.insert(node)) {
            node = model.tail(arc);
        }
    }
    order.iter().filter(|node| needed.contains(node)).filter_map(|node| parent.get(node).copied()).collect()
}

fn write(model: &Model<'_>, server: NodeIx, arcs: &[Arc]) -> ResultTree {
    let name = |node: NodeIx| model.name(node).to_owned();
    let links = arcs.iter().map(|&arc| [name(model.tail(arc)), name(model.head(arc))]).collect();
    ResultTree { server: name(server), links }
}
