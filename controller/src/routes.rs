//! Shortest-path trees over the switches. Hosts never forward.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::ports::PortMap;
use inart_tables::PortNo;

/// Tree of shortest paths from a root.
#[derive(Debug, Clone)]
pub struct Tree<'a> {
    /// Neighbor towards the root, for every switch that the root reaches.
    pub parent: BTreeMap<&'a str, &'a str>,
}

/// Returns shortest paths from host `root` to all switches, by its first link; the least port numbers win
/// ties, so that the tree depends on the topology alone.
pub fn from_host<'a>(ports: &'a PortMap, root: &'a str) -> Tree<'a> {
    let mut parent = BTreeMap::new();
    let mut queue = VecDeque::new();
    if let Some(first) = ports.attachment(root).filter(|first| ports.is_switch(first)) {
        parent.insert(first, root);
        queue.push_back(first);
    }
    while let Some(switch) = queue.pop_front() {
        for (_, peer) in ports.ports(switch) {
            if ports.is_switch(peer) && !parent.contains_key(peer) {
                parent.insert(peer, switch);
                queue.push_back(peer);
            }
        }
    }
    Tree { parent }
}

/// Returns the ports of one spanning tree over the switches (one per connected component) and of the hosts,
/// by switch. A frame that is copied to all of them except its ingress port reaches every host once.
pub fn flood_ports(ports: &PortMap) -> BTreeMap<&str, BTreeSet<PortNo>> {
    let mut edges = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for root in ports.switches() {
        let mut queue = VecDeque::from_iter(seen.insert(root).then_some(root));
        while let Some(switch) = queue.pop_front() {
            for (_, peer) in ports.ports(switch).filter(|(_, peer)| ports.is_switch(peer)) {
                if seen.insert(peer) {
                    edges.extend([(switch, peer), (peer, switch)]);
                    queue.push_back(peer);
                }
            }
        }
    }
    let on_tree = |switch, peer| {
        if ports.is_switch(peer) {
            edges.contains(&(switch, peer))
        } else {
            ports.attachment(peer) == Some(switch)
        }
    };
    ports
        .switches()
        .map(|switch| {
            (switch, ports.ports(switch).filter(|(_, peer)| on_tree(switch, peer)).map(|(p, _)| p).collect())
        })
        .collect()
}
