//! Chooses paths: each flow takes the path whose links are least loaded by those placed before it.

use std::collections::{BTreeMap, BTreeSet};

use crate::choices::{Paths, Results};
use crate::dag::Dags;
use crate::model::{Arc, Model, NodeIx};
use crate::placement::{FlowTo, Placement};
use crate::results::{Tree, Trees};
use crate::routes::{Path, Routes, Rule};

/// The cost of a host's further links for results: the controller installs trees over first links only.
const SECOND: f64 = 1e6;

/// Routes a placement's flows and trunks. Where plans may take any path it keeps to the fewest hops all the
/// same, since that is quick and mostly enough; [`Router::widest`] makes detours.
pub(crate) struct Router<'m> {
    pub model: &'m Model<'m>,
    pub routes: Routes<'m>,
    pub dags: Dags<'m>,
    pub trees: Trees<'m>,
    rule: Rule,
    /// The one that makes detours, if plans may.
    wide: Option<Box<Router<'m>>>,
}

/// Loads so far, relative to capacity.
struct Load<'m> {
    model: &'m Model<'m>,
    used: Vec<f64>,
    /// Weight of a unit of each server's shard: its share, over a typical rate.
    weight: Vec<f64>,
}

impl Load<'_> {
    /// Returns the cost, which grows steeply with the utilization of an arc after one more unit of shard `s`.
    fn cost(&self, arc: Arc, s: usize) -> f64 {
        let after = (self.used[arc as usize] + self.weight[s]) / self.model.capacity_of(arc);
        after.powi(4) + 1e-6 * after
    }

    fn shift(&mut self, path: &[Arc], s: usize, sign: f64) {
        for &arc in path {
            self.used[arc as usize] += sign * self.weight[s];
        }
    }
}

impl<'m> Router<'m> {
    pub fn new(model: &'m Model<'m>, paths: Paths) -> Self {
        let with = |rule: Rule, wide| Router {
            model,
            routes: Routes::new(model, rule),
            dags: Dags::new(model, rule),
            trees: Trees::new(model, rule),
            rule,
            wide,
        };
        match paths {
            Paths::Any => with(Rule::Left, Some(Box::new(with(Rule::Any, None)))),
            Paths::Shortest => with(Rule::Built, None),
        }
    }

    /// The router over all paths that plans may take: itself, or one that makes detours.
    pub fn widest(&self) -> &Router<'m> {
        self.wide.as_deref().unwrap_or(self)
    }

    /// Returns whether plans may take detours.
    pub fn detours(&self) -> bool {
        self.rule != Rule::Built
    }

    /// Returns whether this router makes detours.
    pub fn makes_detours(&self) -> bool {
        self.rule == Rule::Any
    }

    /// Returns whether `end` can aggregate `worker`'s flow for `server`.
    pub fn reaches(&self, worker: NodeIx, end: NodeIx, server: NodeIx) -> bool {
        use crate::routes::FAR;
        self.routes.hops(worker, end) != FAR && (end == server || self.routes.hops(end, server) != FAR)
    }

    /// Routes flows that end at `ends[server][worker]` (an aggregator, or the server), all servers weighing
    /// the same.
    pub fn place(&self, ends: &[Vec<NodeIx>]) -> Placement {
        self.place_weighted(ends, &crate::placement::equal_shares(ends.len()))
    }

    /// Places like [`Router::place`], with shares x_s. Two passes: the second moves each path knowing all the
    /// others, and the trees of results.
    pub fn place_weighted(&self, ends: &[Vec<NodeIx>], shares: &[f64]) -> Placement {
        let model = self.model;
        let mut load = self.no_load(shares);
        let mut placement = Placement::default();
        for (s, ends) in ends.iter().enumerate() {
            let server = model.servers[s];
            let groups: BTreeSet<NodeIx> = ends.iter().copied().filter(|&end| end != server).collect();
            let trunks: BTreeMap<NodeIx, Path> =
                groups.into_iter().map(|v| (v, self.lay(v, server, s, &mut load))).collect();
            let flows = ends
                .iter()
                .zip(&model.workers)
                .map(|(&end, &worker)| FlowTo { end, path: self.lay(worker, end, s, &mut load) })
                .collect();
            placement.trunks.push(trunks);
            placement.flows.push(flows);
        }
        self.lay_results(&mut placement, &mut load);
        for s in 0..ends.len() {
            let server = model.servers[s];
            for (&v, path) in &mut placement.trunks[s] {
                load.shift(path, s, -1.0);
                *path = self.lay(v, server, s, &mut load);
            }
            for (flow, &worker) in placement.flows[s].iter_mut().zip(&model.workers) {
                load.shift(&flow.path, s, -1.0);
                flow.path = self.lay(worker, flow.end, s, &mut load);
            }
        }
        placement
    }

    /// Keeps `flows`, `trunks` and (parts of) trees of `results` as they are, and routes the flows and trunks
    /// to `ends` that they lack around them, and the rest of the trees.
    pub fn place_around(
        &self,
        flows: &[Vec<Option<FlowTo>>],
        trunks: &[BTreeMap<NodeIx, Path>],
        results: &[Vec<Arc>],
        ends: &[Vec<NodeIx>],
        shares: &[f64],
    ) -> Placement {
        let model = self.model;
        let mut load = self.no_load(shares);
        let mut placement = Placement::default();
        results.iter().enumerate().for_each(|(s, tree)| load.shift(tree, s, 1.0));
        for (s, ends) in ends.iter().enumerate() {
            let used: BTreeSet<NodeIx> =
                ends.iter().copied().filter(|&end| end != model.servers[s]).collect();
            let kept: BTreeMap<NodeIx, Path> = trunks[s]
                .iter()
                .filter(|(v, _)| used.contains(v))
                .map(|(&v, path)| (v, path.clone()))
                .collect();
            kept.values().for_each(|path| load.shift(path, s, 1.0));
            flows[s].iter().flatten().for_each(|flow| load.shift(&flow.path, s, 1.0));
            placement.trunks.push(kept);
        }
        for (s, ends) in ends.iter().enumerate() {
            let server = model.servers[s];
            for &v in ends.iter().filter(|&&end| end != server) {
                if !placement.trunks[s].contains_key(&v) {
                    let path = self.lay(v, server, s, &mut load);
                    placement.trunks[s].insert(v, path);
                }
            }
            let of_server = ends.iter().zip(&model.workers).zip(&flows[s]).map(|((&end, &worker), kept)| {
                kept.clone().unwrap_or_else(|| FlowTo { end, path: self.lay(worker, end, s, &mut load) })
            });
            placement.flows.push(of_server.collect());
        }
        for (s, kept) in results.iter().enumerate() {
            load.shift(kept, s, -1.0);
            placement.results.push(self.tree(s, kept, &mut load));
        }
        placement
    }

    /// Adds the missing trees of results, if results count: those that load links the least next to all other
    /// traffic, at shares x_s.
    pub fn with_results(&self, mut placement: Placement, shares: &[f64]) -> Placement {
        if self.model.results == Results::Counted && placement.results.is_empty() {
            let mut load = self.no_load(shares);
            for (s, (flows, trunks)) in placement.flows.iter().zip(&placement.trunks).enumerate() {
                flows.iter().for_each(|flow| load.shift(&flow.path, s, 1.0));
                trunks.values().for_each(|path| load.shift(path, s, 1.0));
            }
            self.lay_results(&mut placement, &mut load);
        }
        placement
    }

    fn lay_results(&self, placement: &mut Placement, load: &mut Load<'_>) {
        if self.model.results == Results::Counted {
            placement.results = (0..self.model.servers.len()).map(|s| self.tree(s, &[], load)).collect();
        }
    }

    /// A tree of results of server `s` that has the arcs of `kept`.
    fn tree(&self, s: usize, kept: &[Arc], load: &mut Load<'_>) -> Tree {
        let second = |arc| if self.trees.is_second(arc) { SECOND } else { 0.0 };
        let tree = self.trees.grow(s, kept, |arc| load.cost(arc, s) + second(arc));
        load.shift(&tree, s, 1.0);
        tree
    }

    /// Creates an empty load, with shares x_s.
    fn no_load(&self, shares: &[f64]) -> Load<'m> {
        let model = self.model;
        let scale =
            model.capacity[..model.arcs()].iter().copied().fold(0.0, f64::max) / model.workers.len() as f64;
        let weight = shares.iter().map(|x| (x * scale).max(1e-9 * scale)).collect();
        Load { model, used: vec![0.0; model.arcs()], weight }
    }

    fn lay(&self, from: NodeIx, to: NodeIx, s: usize, load: &mut Load<'_>) -> Path {
        let path = self.routes.cheapest(from, to, |arc| load.cost(arc, s)).expect("ends are reachable");
        load.shift(&path, s, 1.0);
        path
    }
}
