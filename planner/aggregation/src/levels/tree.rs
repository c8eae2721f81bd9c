//! Local search over placements of two levels, for given rates F_s: guided by overloads, as in
//! [`crate::search`], whose weights it shares.
//!
//! In one server's shard, every worker and every used switch sends one *unit* of rate F_s: to an aggregating
//! switch, or to the server. A switch that receives sums of others sends its own to the server.

use std::rc::Rc;

use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use rustc_hash::FxHashMap;

use crate::model::{Model, NodeIx, Resource};
use crate::placement::{FlowTo, Placement, trunk_end};
use crate::results;
use crate::router::Router;
use crate::routes::{FAR, Path};

/// Most paths remembered per pair of nodes.
const PATHS: usize = 16;
/// Switches tried per move, in addition to those the shard uses already.
const FRESH_ENDS: usize = 4;
/// Overload below this is a rounding error.
const NOTHING: f64 = 1e-9;
/// Results of a server, among the units.
const RESULTS: usize = usize::MAX;

/// The units of one shard: the workers in the job's order, then the model's aggregators in its order.
#[derive(Debug, Clone)]
struct Units {
    /// Destination of each unit; `None` for an unused switch.
    legs: Vec<Option<FlowTo>>,
    /// Units that end at each aggregator, and how many of them are sums.
    takes: Vec<u32>,
    sums: Vec<u32>,
}

/// A placement under search, with the load it makes at the rates sought.
pub(super) struct Tree<'r, 'm> {
    pub(super) router: &'r Router<'m>,
    pub(super) model: &'m Model<'m>,
    /// Target F_s.
    pub(super) sending: Vec<f64>,
    units: Vec<Units>,
    /// Trees of results by `[server]`; empty if results do not count.
    pub(super) results: Vec<results::Tree>,
    pub(super) load: Vec<f64>,
    weight: Vec<f64>,
    inverse: Vec<f64>,
    /// Position of every node in the model's aggregators.
    position: FxHashMap<NodeIx, usize>,
    paths: FxHashMap<(NodeIx, NodeIx), Rc<[Path]>>,
}

impl<'r, 'm> Tree<'r, 'm> {
    /// Creates an empty tree: [`Tree::send`] every worker's unit before anything else.
    pub fn empty(router: &'r Router<'m>, sending: Vec<f64>) -> Self {
        let model = router.model;
        let resources = model.capacity.len();
        let (workers, switches) = (model.workers.len(), model.aggregators.len());
        let units =
            Units { legs: vec![None; workers + switches], takes: vec![0; switches], sums: vec![0; switches] };
        Tree {
            router,
            model,
            units: vec![units; sending.len()],
            results: Vec::new(),
            sending,
            load: vec![0.0; resources],
            weight: vec![1.0; resources],
            inverse: model.capacity.iter().map(|&c| if c > 0.0 { 1.0 / c } else { 1e30 }).collect(),
            position: model.aggregators.iter().enumerate().map(|(at, &v)| (v, at)).collect(),
            paths: FxHashMap::default(),
        }
    }

    pub fn new(router: &'r Router<'m>, placement: &Placement, sending: Vec<f64>) -> Self {
        let mut tree = Tree::empty(router, sending);
        for s in 0..tree.sending.len() {
            for (&v, path) in &placement.trunks[s] {
                let unit = tree.unit_of(v);
                tree.put(s, unit, FlowTo { end: trunk_end(tree.model, path), path: path.clone() });
            }
            for (w, flow) in placement.flows[s].iter().enumerate() {
                tree.put(s, w, flow.clone());
            }
        }
        tree.results = placement.results.clone();
        tree.load_results();
        tree
    }

    pub fn placement(&self) -> Placement {
        let workers = self.model.workers.len();
        let mut placement = Placement::default();
        for units in &self.units {
            let leg = |leg: &Option<FlowTo>| leg.clone().expect("every worker sends to every server");
            placement.flows.push(units.legs[..workers].iter().map(leg).collect());
            let trunks = self.model.aggregators.iter().zip(&units.legs[workers..]);
            placement
                .trunks
                .push(trunks.filter_map(|(&v, leg)| Some((v, leg.as_ref()?.path.clone()))).collect());
        }
        placement.results = self.results.clone();
        placement
    }

    /// Changes the target rates of the placement.
    pub fn seek(&mut self, sending: Vec<f64>) {
        self.sending = sending;
        self.weight.fill(1.0);
        self.load.fill(0.0);
        for (units, &rate) in self.units.iter().zip(&self.sending) {
            for leg in units.legs.iter().flatten() {
                self.load[self.model.own(leg.end) as usize] += rate;
                leg.path.iter().for_each(|&arc| self.load[arc as usize] += rate);
            }
        }
        self.load_results();
    }

    /// Searches for at most `steps` steps; whether it found a placement without overload.
    pub fn run(&mut self, steps: usize, rng: &mut ChaCha8Rng, out_of_time: &dyn Fn() -> bool) -> bool {
        for step in 0..steps {
            let full: Vec<usize> = (0..self.load.len()).filter(|&r| self.excess(r) > NOTHING).collect();
            let Some(&worst) = full.choose(rng) else { return true };
            if step % 64 == 0 && out_of_time() {
                return false;
            }
            self.relieve(worst as Resource, rng);
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

    fn unit_of(&self, v: NodeIx) -> usize {
        self.model.workers.len() + self.position[&v]
    }

    pub fn source(&self, unit: usize) -> NodeIx {
        let workers = &self.model.workers;
        workers.get(unit).copied().unwrap_or_else(|| self.model.aggregators[unit - workers.len()])
    }

    /// Returns the aggregator at which a unit ends, or `None` for the server.
    fn taker(&self, s: usize, end: NodeIx) -> Option<usize> {
        (end != self.model.servers[s]).then(|| self.position[&end])
    }

    fn excess(&self, r: usize) -> f64 {
        (self.load[r] * self.inverse[r] - 1.0 - NOTHING).max(0.0)
    }

    /// Returns the weighted overload.
    fn energy(&self) -> f64 {
        (0..self.load.len()).map(|r| self.weight[r] * self.excess(r)).sum()
    }

    /// Returns the cost of one more unit of rate `rate` on a resource: weighted overload, then utilization as
    /// a tie-break.
    pub(super) fn cost(&self, resource: Resource, rate: f64) -> f64 {
        let r = resource as usize;
        let after = self.load[r] + rate;
        let excess = (after * self.inverse[r] - 1.0 - NOTHING).max(0.0);
        self.weight[r] * (excess - self.excess(r)) + 1e-4 * after * self.inverse[r]
    }

    fn shift(&mut self, leg: &FlowTo, rate: f64) {
        self.load[self.model.own(leg.end) as usize] += rate;
        leg.path.iter().for_each(|&arc| self.load[arc as usize] += rate);
    }

    /// Adds a leg; the switch at its end may have none yet.
    fn put(&mut self, s: usize, unit: usize, leg: FlowTo) {
        self.shift(&leg, self.sending[s]);
        if let Some(taker) = self.taker(s, leg.end) {
            self.units[s].takes[taker] += 1;
            self.units[s].sums[taker] += u32::from(unit >= self.model.workers.len());
        }
        self.units[s].legs[unit] = Some(leg);
    }

    /// Removes a unit's leg, and the legs of switches without remaining units.
    fn take_off(&mut self, s: usize, unit: usize) -> FlowTo {
        let leg = self.units[s].legs[unit].take().expect("only units in use are moved");
        self.shift(&leg, -self.sending[s]);
        if let Some(taker) = self.taker(s, leg.end) {
            let workers = self.model.workers.len();
            self.units[s].takes[taker] -= 1;
            self.units[s].sums[taker] -= u32::from(unit >= workers);
            if self.units[s].takes[taker] == 0 {
                self.take_off(s, workers + taker);
            }
        }
        leg
    }

    /// Adds a leg, and one for the switch it ends at if that was not in use.
    fn insert(&mut self, s: usize, unit: usize, leg: FlowTo, rng: &mut ChaCha8Rng) {
        let taker = self.taker(s, leg.end).map(|taker| self.model.workers.len() + taker);
        let is_sum = unit >= self.model.workers.len();
        self.put(s, unit, leg);
        if let Some(trunk) = taker.filter(|&trunk| self.units[s].legs[trunk].is_none()) {
            let (_, leg) = self.best_trunk(s, trunk, is_sum, rng);
            self.put(s, trunk, leg);
        }
    }

    /// Sends a unit to `end` by the cheapest path, and on from there if `end` has no leg yet.
    pub fn send(&mut self, s: usize, unit: usize, end: NodeIx, rng: &mut ChaCha8Rng) {
        let (_, path) = self.best_path(self.source(unit), end, self.sending[s], None, rng);
        self.insert(s, unit, FlowTo { end, path }, rng);
    }

    /// Makes an unused switch aggregate `units` for the server.
    pub fn add_up(&mut self, s: usize, at: NodeIx, units: &[usize], rng: &mut ChaCha8Rng) {
        units.iter().for_each(|&unit| drop(self.take_off(s, unit)));
        self.send(s, self.unit_of(at), self.model.servers[s], rng);
        units.iter().for_each(|&unit| self.send(s, unit, at, rng));
    }

    /// Returns whether a unit may be aggregated at `end`: not where a leg is currently missing, and a sum
    /// only once more.
    fn may_end_at(&self, s: usize, unit: usize, end: NodeIx) -> bool {
        let Some(taker) = self.taker(s, end) else { return true };
        let (workers, units) = (self.model.workers.len(), &self.units[s]);
        let onward = units.legs[workers + taker].as_ref();
        if onward.is_none() && units.takes[taker] > 0 {
            return false;
        }
        let Some(own) = unit.checked_sub(workers) else { return true };
        own != taker && units.sums[own] == 0 && onward.is_none_or(|leg| leg.end == self.model.servers[s])
    }

    /// Returns the cheapest leg of a switch that becomes used: to the server, or (if it does not aggregate
    /// sums) to a used switch that sends to the server.
    fn best_trunk(&mut self, s: usize, trunk: usize, sums: bool, rng: &mut ChaCha8Rng) -> (f64, FlowTo) {
        let server = self.model.servers[s];
        let mut ends = vec![server];
        if !sums {
            let open = self.open(s);
            ends.extend(open.into_iter().filter(|&end| self.may_end_at(s, trunk, end)));
        }
        let (from, rate) = (self.source(trunk), self.sending[s]);
        let mut best: Option<(f64, FlowTo)> = None;
        for end in ends.into_iter().filter(|&end| self.router.routes.hops(from, end) != FAR) {
            let (mut cost, path) = self.best_path(from, end, rate, None, rng);
            cost += self.cost(self.model.own(end), rate);
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, FlowTo { end, path }));
            }
        }
        best.expect("only switches that reach the server are used")
    }

    /// Returns the switches that aggregate for `s`.
    fn open(&self, s: usize) -> Vec<NodeIx> {
        let takes = self.model.aggregators.iter().zip(&self.units[s].takes);
        takes.filter(|&(_, &n)| n > 0).map(|(&v, _)| v).collect()
    }

    /// Returns the cheapest remembered path and its cost, other than `not` if another exists.
    fn best_path(
        &mut self,
        from: NodeIx,
        to: NodeIx,
        rate: f64,
        not: Option<&Path>,
        rng: &mut ChaCha8Rng,
    ) -> (f64, Path) {
        let router = self.router;
        let paths = self.paths.entry((from, to));
        let paths = paths.or_insert_with(|| router.routes.some_paths(from, to, PATHS).into()).clone();
        let start = rng.random_range(0..paths.len());
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

    /// Moves something away from a resource.
    fn relieve(&mut self, resource: Resource, rng: &mut ChaCha8Rng) {
        let crossing = self.crossing(resource);
        let &(s, unit) = crossing.choose(rng).expect("an overloaded resource is used");
        if unit == RESULTS {
            self.regrow(s, resource, rng);
        } else if unit < self.model.workers.len() {
            match rng.random_range(0..8) {
                0 => self.gather(s, rng),
                _ => self.move_unit(s, unit, rng),
            }
        } else {
            match rng.random_range(0..5) {
                0 | 1 => self.move_unit(s, unit, rng),
                2 => self.move_group(s, unit, rng),
                3 => self.dissolve(s, unit, rng),
                _ => self.gather(s, rng),
            }
        }
    }

    /// All (server, unit) that load a resource; [`RESULTS`] for a server's results.
    fn crossing(&self, resource: Resource) -> Vec<(usize, usize)> {
        let arcs = self.model.arcs();
        let loads = |leg: &FlowTo| match resource.checked_sub(arcs as u32) {
            None => leg.path.contains(&resource),
            Some(node) => leg.end == node,
        };
        let of = |(s, units): (usize, &Units)| -> Vec<(usize, usize)> {
            let legs = units.legs.iter().enumerate();
            legs.filter(|(_, leg)| leg.as_ref().is_some_and(loads)).map(|(unit, _)| (s, unit)).collect()
        };
        let mut crossing: Vec<(usize, usize)> = self.units.iter().enumerate().flat_map(of).collect();
        let trees = self.results.iter().enumerate().filter(|(_, tree)| tree.contains(&resource));
        crossing.extend(trees.map(|(s, _)| (s, RESULTS)));
        crossing
    }

    /// Moves a unit to the cheapest destination other than the current one.
    fn move_unit(&mut self, s: usize, unit: usize, rng: &mut ChaCha8Rng) {
        let old = self.take_off(s, unit);
        let mut ends = self.open(s);
        ends.push(self.model.servers[s]);
        for _ in 0..FRESH_ENDS.min(self.model.aggregators.len()) {
            ends.extend(self.model.aggregators.choose(rng));
        }
        self.put_best(s, unit, &ends, &old, rng);
    }

    /// Inserts a unit at the cheapest of `ends`; the old end only with another path.
    fn put_best(&mut self, s: usize, unit: usize, ends: &[NodeIx], old: &FlowTo, rng: &mut ChaCha8Rng) {
        let (rate, from, server) = (self.sending[s], self.source(unit), self.model.servers[s]);
        let is_sum = unit >= self.model.workers.len();
        let mut best: Option<(f64, FlowTo)> = None;
        for &end in ends {
            if !self.router.reaches(from, end, server) || !self.may_end_at(s, unit, end) {
                continue;
            }
            let not = (end == old.end).then_some(&old.path);
            let (mut cost, path) = self.best_path(from, end, rate, not, rng);
            if not == Some(&path) {
                continue;
            }
            cost += self.cost(self.model.own(end), rate);
            if let Some(taker) = self.taker(s, end).filter(|&taker| self.units[s].takes[taker] == 0) {
                cost += self.best_trunk(s, self.model.workers.len() + taker, is_sum, rng).0;
            }
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, FlowTo { end, path }));
            }
        }
        let leg = best.map_or_else(|| old.clone(), |(_, leg)| leg);
        self.insert(s, unit, leg, rng);
    }

    /// Units that end at a switch.
    fn members(&self, s: usize, v: NodeIx) -> Vec<usize> {
        let legs = self.units[s].legs.iter().enumerate();
        legs.filter(|(_, leg)| leg.as_ref().is_some_and(|leg| leg.end == v)).map(|(unit, _)| unit).collect()
    }

    /// Moves all units of a switch elsewhere, one by one.
    fn dissolve(&mut self, s: usize, trunk: usize, rng: &mut ChaCha8Rng) {
        let v = self.source(trunk);
        self.attempt(s, rng, |tree, rng| {
            let members = tree.members(s, v);
            let old: Vec<FlowTo> = members.iter().map(|&unit| tree.take_off(s, unit)).collect();
            let mut ends = tree.open(s);
            ends.push(tree.model.servers[s]);
            for (&unit, old) in members.iter().zip(&old).rev() {
                tree.put_best(s, unit, &ends, old, rng);
            }
        });
    }

    /// Moves the units of one switch to another one.
    fn move_group(&mut self, s: usize, trunk: usize, rng: &mut ChaCha8Rng) {
        let Some(to) = self.closed(s, rng) else { return };
        let v = self.source(trunk);
        let members = self.members(s, v);
        let routes = &self.router.routes;
        if members.iter().any(|&unit| routes.hops(self.source(unit), to) == FAR || self.source(unit) == to) {
            return;
        }
        let end = self.units[s].legs[trunk].as_ref().expect("in use").end;
        self.attempt(s, rng, |tree, rng| {
            members.iter().for_each(|&unit| drop(tree.take_off(s, unit)));
            // Sums, which are last, are moved first: then the switch has to send to the server.
            for &unit in members.iter().rev() {
                tree.send(s, unit, to, rng);
            }
            // A new switch without sums may send to the cheapest destination.
            let trunk = tree.unit_of(to);
            let leg = tree.take_off(s, trunk);
            let ends = [end, tree.model.servers[s]];
            let open: Vec<NodeIx> = ends.into_iter().filter(|&end| tree.is_open(s, end)).collect();
            let nowhere = FlowTo { end: leg.end, path: Path::default() };
            tree.put_best(s, trunk, &open, &nowhere, rng);
        });
    }

    fn is_open(&self, s: usize, end: NodeIx) -> bool {
        self.taker(s, end).is_none_or(|taker| self.units[s].takes[taker] > 0)
    }

    /// A switch not in use that reaches the server.
    fn closed(&self, s: usize, rng: &mut ChaCha8Rng) -> Option<NodeIx> {
        let server = self.model.servers[s];
        let fits = |&v: &NodeIx| !self.is_open(s, v) && self.router.routes.hops(v, server) != FAR;
        let free: Vec<NodeIx> = self.model.aggregators.iter().copied().filter(fits).collect();
        free.choose(rng).copied()
    }

    /// Makes an unused switch aggregate nearby units that end at the server.
    fn gather(&mut self, s: usize, rng: &mut ChaCha8Rng) {
        let Some(at) = self.closed(s, rng) else { return };
        let room = self.model.capacity_of(self.model.own(at)) - self.load[self.model.own(at) as usize];
        let size = crate::bounds::whole(room.max(0.0), self.sending[s]) as usize;
        let hops = self.router.routes.hops_to(at);
        let mut near: Vec<(u16, u32, usize)> = self
            .members(s, self.model.servers[s])
            .into_iter()
            .filter(|&unit| hops[self.source(unit) as usize] != FAR && self.may_end_at(s, unit, at))
            .map(|unit| (hops[self.source(unit) as usize], rng.random(), unit))
            .collect();
        near.sort_unstable();
        near.truncate(size);
        if near.len() < 2 {
            return;
        }
        self.attempt(s, rng, |tree, rng| {
            near.iter().for_each(|&(_, _, unit)| drop(tree.take_off(s, unit)));
            near.sort_unstable_by_key(|&(_, _, unit)| std::cmp::Reverse(unit));
            near.iter().for_each(|&(_, _, unit)| tree.send(s, unit, at, rng));
        });
    }

    /// Keeps a large move only if it does not raise the energy (now and then by a little).
    fn attempt(&mut self, s: usize, rng: &mut ChaCha8Rng, change: impl FnOnce(&mut Self, &mut ChaCha8Rng)) {
        let (units, load, before) = (self.units[s].clone(), self.load.clone(), self.energy());
        change(self, rng);
        if self.energy() > before && !rng.random_bool(0.02) {
            (self.units[s], self.load) = (units, load);
        }
    }
}
