//! Local search for a placement that carries given rates F_s with no capacity exceeded.
//!
//! Guided by what is overloaded: it takes a resource that is too full, takes something off it (a flow, a trunk, or a whole
//! group), and puts it back where it costs least. Overloads that persist grow in weight, so the search leaves
//! local minima without a temperature to tune.

use std::rc::Rc;

use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use rustc_hash::FxHashMap;

use crate::model::{Model, NodeIx, Resource};
use crate::placement::{FlowTo, Placement};
use crate::router::Router;
use crate::routes::{FAR, Path};

/// Most paths remembered per pair of nodes.
const PATHS: usize = 16;
/// Aggregators tried per moved flow, beside those its shard uses already.
const FRESH_ENDS: usize = 4;
/// Overload below this is a rounding error.
const NOTHING: f64 = 1e-9;

/// A placement under search, with the load it makes at the rates sought.
pub(crate) struct Search<'r, 'm> {
    router: &'r Router<'m>,
    model: &'m Model<'m>,
    /// F_s sought.
    sending: Vec<f64>,
    pub placement: Placement,
    load: Vec<f64>,
    weight: Vec<f64>,
    inverse: Vec<f64>,
    /// Group sizes, `[server]` by aggregator.
    groups: Vec<FxHashMap<NodeIx, u32>>,
    paths: FxHashMap<(NodeIx, NodeIx), Rc<[Path]>>,
    rng: ChaCha8Rng,
}

/// What loads a resource.
#[derive(Default)]
struct Crossing {
    /// By (server, worker).
    flows: Vec<(usize, usize)>,
    /// By (server, aggregator).
    trunks: Vec<(usize, NodeIx)>,
}

impl<'r, 'm> Search<'r, 'm> {
    pub fn new(router: &'r Router<'m>, placement: Placement, sending: Vec<f64>, rng: ChaCha8Rng) -> Self {
        let model = router.model;
        let resources = model.capacity.len();
        let inverse = model.capacity.iter().map(|&c| if c > 0.0 { 1.0 / c } else { 1e30 }).collect();
        let mut search = Search {
            router,
            model,
            sending,
            placement,
            load: vec![0.0; resources],
            weight: vec![1.0; resources],
            inverse,
            groups: Vec::new(),
            paths: FxHashMap::default(),
            rng,
        };
        search.recount();
        search
    }

    /// Seeks other rates from the same placement.
    pub fn seek(&mut self, sending: Vec<f64>) {
        self.sending = sending;
        self.weight.fill(1.0);
        self.recount();
    }

    fn recount(&mut self) {
        self.load.fill(0.0);
        self.groups = vec![FxHashMap::default(); self.sending.len()];
        for s in 0..self.sending.len() {
            let (rate, server) = (self.sending[s], self.model.servers[s]);
            for flow in &self.placement.flows[s] {
                self.load[self.model.own(flow.end) as usize] += rate;
                flow.path.iter().for_each(|&arc| self.load[arc as usize] += rate);
                if flow.end != server {
                    *self.groups[s].entry(flow.end).or_default() += 1;
                }
            }
            for path in self.placement.trunks[s].values() {
                self.load[self.model.own(server) as usize] += rate;
                path.iter().for_each(|&arc| self.load[arc as usize] += rate);
            }
        }
    }

    fn excess(&self, resource: usize, load: f64) -> f64 {
        (load * self.inverse[resource] - 1.0 - NOTHING).max(0.0)
    }

    /// What one more flow of rate `rate` on a resource costs: weighted overload, then utilisation as a tie-break.
    fn cost(&self, resource: Resource, rate: f64) -> f64 {
        let r = resource as usize;
        let after = self.load[r] + rate;
        self.weight[r] * (self.excess(r, after) - self.excess(r, self.load[r]))
            + 1e-4 * after * self.inverse[r]
    }

    fn shift(&mut self, resource: Resource, rate: f64) {
        self.load[resource as usize] += rate;
    }

    /// Weighted overload.
    fn energy(&self) -> f64 {
        (0..self.load.len()).map(|r| self.weight[r] * self.excess(r, self.load[r])).sum()
    }

    /// Searches for at most `steps` steps; whether it found a placement without overload.
    pub fn run(&mut self, steps: usize, out_of_time: &dyn Fn() -> bool) -> bool {
        for step in 0..steps {
            let full: Vec<usize> =
                (0..self.load.len()).filter(|&r| self.excess(r, self.load[r]) > NOTHING).collect();
            let Some(&worst) = full.choose(&mut self.rng) else { return true };
            if step % 64 == 0 && out_of_time() {
                return false;
            }
            self.relieve(worst as Resource);
            if step % 4 == 3 {
                full.iter().for_each(|&r| self.weight[r] *= 1.05);
            }
            if step % 512 == 511 {
                let heaviest = self.weight.iter().copied().fold(1.0, f64::max);
                if heaviest > 1e6 {
                    self.weight.iter_mut().for_each(|w| *w = (*w / heaviest * 1e3).max(1.0));
                }
            }
        }
        false
    }

    /// Moves something off a resource.
    fn relieve(&mut self, resource: Resource) {
        let Crossing { flows, trunks } = self.crossing(resource);
        let pick = self.rng.random_range(0..flows.len() + trunks.len());
        if let Some(&(s, w)) = flows.get(pick) {
            self.move_flow(s, w);
        } else {
            let (s, v) = trunks[pick - flows.len()];
            let is_link = (resource as usize) < self.model.arcs();
            match self.rng.random_range(0..3) {
                0 if is_link => self.reroute_trunk(s, v),
                1 => self.move_group(s, v),
                _ => self.dissolve(s, v),
            }
        }
    }

    /// Everything that loads a resource.
    fn crossing(&self, resource: Resource) -> Crossing {
        let Crossing { mut flows, mut trunks } = Crossing::default();
        let arcs = self.model.arcs();
        for s in 0..self.sending.len() {
            if (resource as usize) < arcs {
                let of_server = self.placement.flows[s].iter().enumerate();
                flows
                    .extend(of_server.filter(|(_, flow)| flow.path.contains(&resource)).map(|(w, _)| (s, w)));
                let of_server = self.placement.trunks[s].iter();
                trunks.extend(of_server.filter(|(_, path)| path.contains(&resource)).map(|(&v, _)| (s, v)));
            } else {
                let node = resource - arcs as u32;
                let of_server = self.placement.flows[s].iter().enumerate();
                flows.extend(of_server.filter(|(_, flow)| flow.end == node).map(|(w, _)| (s, w)));
                if self.model.servers[s] == node {
                    trunks.extend(self.placement.trunks[s].keys().map(|&v| (s, v)));
                }
            }
        }
        Crossing { flows, trunks }
    }

    fn remove_flow(&mut self, s: usize, w: usize) {
        let (rate, server) = (self.sending[s], self.model.servers[s]);
        let flow =
            std::mem::replace(&mut self.placement.flows[s][w], FlowTo { end: server, path: Box::default() });
        self.shift(self.model.own(flow.end), -rate);
        flow.path.iter().for_each(|&arc| self.shift(arc, -rate));
        if flow.end != server {
            let size = self.groups[s].get_mut(&flow.end).expect("a flow's group exists");
            *size -= 1;
            if *size == 0 {
                self.groups[s].remove(&flow.end);
                self.remove_trunk(s, flow.end);
            }
        }
    }

    fn remove_trunk(&mut self, s: usize, v: NodeIx) {
        let rate = self.sending[s];
        let path = self.placement.trunks[s].remove(&v).expect("a group has a trunk");
        path.iter().for_each(|&arc| self.shift(arc, -rate));
        self.shift(self.model.own(self.model.servers[s]), -rate);
    }

    fn insert_trunk(&mut self, s: usize, v: NodeIx, path: Path) {
        let rate = self.sending[s];
        path.iter().for_each(|&arc| self.shift(arc, rate));
        self.shift(self.model.own(self.model.servers[s]), rate);
        self.placement.trunks[s].insert(v, path);
    }

    fn insert_flow(&mut self, s: usize, w: usize, end: NodeIx, path: Path) {
        let (rate, server) = (self.sending[s], self.model.servers[s]);
        self.shift(self.model.own(end), rate);
        path.iter().for_each(|&arc| self.shift(arc, rate));
        self.placement.flows[s][w] = FlowTo { end, path };
        if end != server {
            *self.groups[s].entry(end).or_default() += 1;
            if !self.placement.trunks[s].contains_key(&end) {
                let (_, trunk) = self.best_path(end, server, rate, None);
                self.insert_trunk(s, end, trunk);
            }
        }
    }

    /// The cheapest remembered path and its cost, other than `not` if there is another.
    fn best_path(&mut self, from: NodeIx, to: NodeIx, rate: f64, not: Option<&Path>) -> (f64, Path) {
        let paths = self.paths(from, to);
        let start = self.rng.random_range(0..paths.len());
        let mut best: Option<(f64, &Path)> = None;
        for path in paths[start..].iter().chain(&paths[..start]) {
            if paths.len() > 1 && not == Some(path) {
                continue;
            }
            let cost: f64 = path.iter().map(|&arc| self.cost(arc, rate)).sum();
            if best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, path));
            }
        }
        let (cost, path) = best.expect("every pair asked for has a path");
        (cost, path.clone())
    }

    fn paths(&mut self, from: NodeIx, to: NodeIx) -> Rc<[Path]> {
        let router = self.router;
        self.paths
            .entry((from, to))
            .or_insert_with(|| router.routes.some_paths(from, to, PATHS).into())
            .clone()
    }

    /// Takes a flow off and puts it where it costs least, other than where it was.
    fn move_flow(&mut self, s: usize, w: usize) {
        let old = self.placement.flows[s][w].clone();
        self.remove_flow(s, w);
        let mut ends: Vec<NodeIx> = self.groups[s].keys().copied().collect();
        ends.push(self.model.servers[s]);
        for _ in 0..FRESH_ENDS.min(self.model.aggregators.len()) {
            ends.push(*self.model.aggregators.choose(&mut self.rng).expect("there are some"));
        }
        self.put_best(s, w, &ends, &old);
    }

    /// Inserts a flow at the cheapest of `ends`; the old end only with another path.
    fn put_best(&mut self, s: usize, w: usize, ends: &[NodeIx], old: &FlowTo) {
        let (rate, worker, server) = (self.sending[s], self.model.workers[w], self.model.servers[s]);
        let mut best: Option<(f64, NodeIx, Path)> = None;
        for &end in ends {
            if !self.router.reaches(worker, end, server) {
                continue;
            }
            let not = (end == old.end).then_some(&old.path);
            if not.is_some() && self.paths(worker, end).len() < 2 {
                continue;
            }
            let (mut cost, path) = self.best_path(worker, end, rate, not);
            cost += self.cost(self.model.own(end), rate);
            if end != server && !self.groups[s].contains_key(&end) {
                cost += self.cost(self.model.own(server), rate) + self.best_path(end, server, rate, None).0;
            }
            if best.as_ref().is_none_or(|&(least, ..)| cost < least) {
                best = Some((cost, end, path));
            }
        }
        match best {
            Some((_, end, path)) => self.insert_flow(s, w, end, path),
            None => self.insert_flow(s, w, old.end, old.path.clone()),
        }
    }

    fn reroute_trunk(&mut self, s: usize, v: NodeIx) {
        let old = self.placement.trunks[s][&v].clone();
        self.remove_trunk(s, v);
        let (_, path) = self.best_path(v, self.model.servers[s], self.sending[s], Some(&old));
        self.insert_trunk(s, v, path);
    }

    fn members(&self, s: usize, v: NodeIx) -> Vec<usize> {
        let of_server = self.placement.flows[s].iter().enumerate();
        of_server.filter(|(_, flow)| flow.end == v).map(|(w, _)| w).collect()
    }

    /// Moves all workers of a group elsewhere, one by one.
    fn dissolve(&mut self, s: usize, v: NodeIx) {
        let members = self.members(s, v);
        let old: Vec<FlowTo> = members.iter().map(|&w| self.placement.flows[s][w].clone()).collect();
        let before = self.energy();
        members.iter().for_each(|&w| self.remove_flow(s, w));
        for (&w, old) in members.iter().zip(&old) {
            let mut ends: Vec<NodeIx> = self.groups[s].keys().copied().filter(|&end| end != v).collect();
            ends.push(self.model.servers[s]);
            self.put_best(s, w, &ends, old);
        }
        self.keep_or_undo(s, &members, old, before);
    }

    /// Moves a whole group to another switch.
    fn move_group(&mut self, s: usize, v: NodeIx) {
        let free: Vec<NodeIx> = {
            let groups = &self.groups[s];
            let server = self.model.servers[s];
            let open = |&&u: &&NodeIx| !groups.contains_key(&u) && self.router.routes.hops(u, server) != FAR;
            self.model.aggregators.iter().filter(open).copied().collect()
        };
        let Some(&to) = free.choose(&mut self.rng) else { return };
        let members = self.members(s, v);
        if members.iter().any(|&w| self.router.routes.hops(self.model.workers[w], to) == FAR) {
            return;
        }
        let old: Vec<FlowTo> = members.iter().map(|&w| self.placement.flows[s][w].clone()).collect();
        let before = self.energy();
        members.iter().for_each(|&w| self.remove_flow(s, w));
        for &w in &members {
            let (_, path) = self.best_path(self.model.workers[w], to, self.sending[s], None);
            self.insert_flow(s, w, to, path);
        }
        self.keep_or_undo(s, &members, old, before);
    }

    /// Large moves stay only if they do not raise the energy (now and then by a little).
    fn keep_or_undo(&mut self, s: usize, members: &[usize], old: Vec<FlowTo>, before: f64) {
        let after = self.energy();
        if after <= before || self.rng.random_bool(0.02) {
            return;
        }
        members.iter().for_each(|&w| self.remove_flow(s, w));
        for (&w, flow) in members.iter().zip(old) {
            self.insert_flow(s, w, flow.end, flow.path);
        }
    }
}
