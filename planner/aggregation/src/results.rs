//! Paths of the results: for each server a tree to all workers of the job.

mod fewest;
mod nearest;
mod tree;
mod trees;

use std::collections::{BTreeSet, VecDeque};

use rustc_hash::FxHashMap;

pub(crate) use tree::Tree;
pub(crate) use trees::Trees;

use crate::model::{Arc, Model, NodeIx};
use crate::plan::ResultTree;

/// Returns for each server the tree of shortest paths to the workers, over links as built; the first link of
/// the topology wins ties.
pub(crate) fn shortest(model: &Model<'_>) -> Vec<ResultTree> {
    let written = |&server: &NodeIx| write(model, server, &from_server(model, server));
    model.servers.iter().map(written).collect()
}

/// The arcs of a tree of shortest paths from `server` to all workers that it reaches, parents before
/// children.
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
    pruned(model, &parent, &order)
}

/// Returns the arcs to nodes that lead to workers, in the order of the nodes.
fn pruned(model: &Model<'_>, parent: &FxHashMap<NodeIx, Arc>, order: &[NodeIx]) -> Vec<Arc> {
    let mut needed: BTreeSet<NodeIx> = BTreeSet::new();
    for &worker in &model.workers {
        let mut node = worker;
        while let Some(&arc) = parent.get(&node).filter(|_| needed.insert(node)) {
            node = model.tail(arc);
        }
    }
    order.iter().filter(|node| needed.contains(node)).filter_map(|node| parent.get(node).copied()).collect()
}

/// A tree by names.
pub(crate) fn write(model: &Model<'_>, server: NodeIx, arcs: &[Arc]) -> ResultTree {
    let name = |node: NodeIx| model.name(node).to_owned();
    let links = arcs.iter().map(|&arc| [name(model.tail(arc)), name(model.head(arc))]).collect();
    ResultTree { server: name(server), links }
}

/// Returns the part of a written tree of a server that this network still has: links of `usable` with
/// available capacity towards workers of the job, parents before children.
pub(crate) fn read(
    model: &Model<'_>,
    names: &FxHashMap<&str, NodeIx>,
    server: NodeIx,
    tree: &ResultTree,
    usable: impl Fn(Arc) -> bool,
) -> Vec<Arc> {
    let mut parent: FxHashMap<NodeIx, Arc> = FxHashMap::default();
    let mut order: Vec<NodeIx> = Vec::new();
    for [from, to] in &tree.links {
        let (Some(&from), Some(&to)) = (names.get(&**from), names.get(&**to)) else { continue };
        let arc = model.arcs_out(from).iter().find(|&&(arc, head)| head == to && usable(arc));
        let leads_on = from == server || model.forwards(from) && parent.contains_key(&from);
        if let Some(&(arc, _)) = arc.filter(|_| leads_on && to != server && !parent.contains_key(&to)) {
            parent.insert(to, arc);
            order.push(to);
        }
    }
    pruned(model, &parent, &order)
}

/// Returns whether a part of a tree reaches every worker.
pub(crate) fn is_whole(model: &Model<'_>, tree: &[Arc]) -> bool {
    model.workers.iter().all(|&worker| tree.iter().any(|&arc| model.head(arc) == worker))
}

/// Returns a tree without an arc and its subtree, and without branches that then reach no worker.
pub(crate) fn without(model: &Model<'_>, tree: &[Arc], arc: Arc) -> Vec<Arc> {
    let mut gone = vec![model.head(arc)];
    let mut kept: Vec<Arc> = Vec::with_capacity(tree.len());
    for &next in tree {
        if next == arc || gone.contains(&model.tail(next)) {
            gone.push(model.head(next));
        } else {
            kept.push(next);
        }
    }
    // Children are after their parents.
    let mut needed = vec![];
    kept.reverse();
    kept.retain(|&arc| {
        let leads_on = !model.forwards(model.head(arc)) || needed.contains(&model.head(arc));
        if leads_on {
            needed.push(model.tail(arc));
        }
        leads_on
    });
    kept.reverse();
    kept
}
