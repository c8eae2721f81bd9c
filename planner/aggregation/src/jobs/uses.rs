//! Use of resources by plans, read from their paths: the flows and partial sums of every shard on each
//! resource of a plan.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::model::Resource;
use crate::placement::weighted;
use crate::plan::Plan;
use inart_topologies::switched::{Link, NodeId, Topology};

/// Indices of resources.
pub(super) struct Index<'t> {
    topology: &'t Topology,
    arcs: FxHashMap<(NodeId, NodeId), Resource>,
}

/// n(s, r) of one plan: by resource, the units of each of its shards.
pub(super) type Units = BTreeMap<Resource, Vec<u32>>;

impl<'t> Index<'t> {
    pub fn new(topology: &'t Topology) -> Self {
        let ends = |(l, link): (usize, &Link)| {
            let [a, b] = link.ends;
            [((a, b), 2 * l as Resource), ((b, a), 2 * l as Resource + 1)]
        };
        Index { topology, arcs: topology.links().iter().enumerate().flat_map(ends).collect() }
    }

    /// Counts the flows and trunks of a plan of ours on every resource, and its results if they count.
    pub fn units(&self, plan: &Plan) -> Units {
        let shards: FxHashMap<&str, usize> =
            plan.shards.iter().enumerate().map(|(s, shard)| (shard.server.as_str(), s)).collect();
        let mut units = Units::new();
        let flows = plan.flows.iter().map(|flow| (&flow.server, &flow.path));
        for (server, path) in flows.chain(plan.trunks.iter().map(|trunk| (&trunk.server, &trunk.path))) {
            let nodes: Vec<NodeId> = path.iter().filter_map(|name| self.topology.node_named(name)).collect();
            let hops = nodes.windows(2).map(|hop| self.arcs[&(hop[0], hop[1])]);
            // The end adds it up, or takes it in.
            let end = nodes.last().map(|end| 2 * self.topology.links().len() as Resource + end.0);
            for resource in hops.chain(end) {
                units.entry(resource).or_insert_with(|| vec![0; plan.shards.len()])
                    [shards[server.as_str()]] += 1;
            }
        }
        let trees = plan.results.iter().filter(|_| plan.results_counted);
        for (tree, [from, to]) in trees.flat_map(|tree| tree.links.iter().map(move |link| (tree, link))) {
            if let (Some(from), Some(to)) = (self.topology.node_named(from), self.topology.node_named(to)) {
                units.entry(self.arcs[&(from, to)]).or_insert_with(|| vec![0; plan.shards.len()])
                    [shards[tree.server.as_str()]] += 1;
            }
        }
        units
    }
}

/// The use of every resource per bit/s of the job's rate, at shares x_s.
pub(super) fn per_bit(units: &Units, shares: &[f64]) -> Vec<(Resource, f64)> {
    units.iter().map(|(&r, units)| (r, weighted(units, shares))).filter(|&(_, use_)| use_ > 0.0).collect()
}
