//! A placement under search: loads, and costs of one more unit anywhere, updated with each move.

use crate::model::{Arc, Model, NodeIx, Resource};
use crate::placement::{FlowTo, Placement};

/// Overload below this is a rounding error.
const NOTHING: f64 = 1e-9;
/// Weight of the utilization in a price, where nothing is overloaded.
const TIE: f64 = 1e-4;
/// No node, or not in a list.
const NONE: u32 = u32::MAX;

/// A unit of some shard: a worker's flow, the sum that an aggregator sends, or the results on their tree.
/// Flows come first, by server, then sums, then trees.
pub(super) type Unit = usize;

/// Kind of a unit.
pub(super) enum Kind {
    Flow,
    /// Sum of an aggregator, by its index.
    Trunk(usize),
    Tree,
}

/// Destination of a unit; `end` is no node for an unused unit or a tree.
#[derive(Debug, Clone)]
struct Leg {
    end: NodeIx,
    path: Vec<Arc>,
}

/// The placement, and its load at the target rates.
pub(super) struct State<'m> {
    pub model: &'m Model<'m>,
    /// Target F_s.
    pub sending: Vec<f64>,
    pub load: Vec<f64>,
    inverse: Vec<f64>,
    weight: Vec<f64>,
    /// Cost of one more unit of F_s, by `[server][resource]`.
    prices: Vec<f64>,
    /// Overloaded resources, and the index of each in that list.
    over: Vec<Resource>,
    place: Vec<u32>,
    legs: Vec<Leg>,
    /// Units that load a resource: `words` 64-bit words each.
    crossing: Vec<u64>,
    words: usize,
    /// Units that end at an aggregator, `[server][position among the aggregators]`.
    takes: Vec<u32>,
    /// Position of every node among the aggregators.
    position: Vec<u32>,
}

impl<'m> State<'m> {
    pub fn new(model: &'m Model<'m>, placement: &Placement, sending: Vec<f64>) -> Self {
        let resources = model.capacity.len();
        let per_server = model.workers.len() + model.aggregators.len();
        let units = sending.len() * per_server + placement.results.len();
        let words = units.div_ceil(64);
        let mut position = vec![NONE; model.topology.nodes().len()];
        (0..).zip(&model.aggregators).for_each(|(at, &v)| position[v as usize] = at);
        let mut state = State {
            model,
            load: vec![0.0; resources],
            inverse: model.capacity.iter().map(|&c| if c > 0.0 { 1.0 / c } else { 1e30 }).collect(),
            weight: vec![1.0; resources],
            prices: vec![0.0; resources * sending.len()],
            over: Vec::new(),
            place: vec![NONE; resources],
            legs: vec![Leg { end: NONE, path: Vec::new() }; units],
            crossing: vec![0; resources * words],
            words,
            takes: vec![0; sending.len() * model.aggregators.len()],
            position,
            sending,
        };
        for s in 0..state.sending.len() {
            for (w, flow) in placement.flows[s].iter().enumerate() {
                state.put(state.flow(s, w), flow.end, &flow.path);
            }
            for (&v, path) in &placement.trunks[s] {
                state.put(state.trunk(s, state.position[v as usize] as usize), model.servers[s], path);
            }
            if let Some(tree) = placement.results.get(s) {
                state.put_tree(s, tree);
            }
        }
        state
    }

    /// Changes the target rates; all weights are reset.
    pub fn seek(&mut self, sending: Vec<f64>) {
        self.sending = sending;
        self.weight.fill(1.0);
        self.reload();
    }

    /// Returns how fast the energy rises with every F_s.
    pub fn slopes(&self) -> Vec<f64> {
        let mut slopes = vec![0.0; self.sending.len()];
        for &r in &self.over {
            let steep = self.weight[r as usize] * self.inverse[r as usize];
            for (place, &word) in self.row(r).iter().enumerate() {
                let mut left = word;
                while left != 0 {
                    slopes[self.shard(place * 64 + left.trailing_zeros() as usize)] += steep;
                    left &= left - 1;
                }
            }
        }
        slopes
    }

    /// Transfers `rate` from one server to another.
    pub fn pass_on(&mut self, from: usize, to: usize, rate: f64) {
        self.sending[from] -= rate;
        self.sending[to] += rate;
        self.reload();
    }

    /// Works out the loads and prices afresh.
    fn reload(&mut self) {
        self.load.fill(0.0);
        for unit in 0..self.legs.len() {
            let leg = &self.legs[unit];
            if leg.end != NONE || unit >= self.tree(0) {
                let rate = self.sending[self.shard(unit)];
                if leg.end != NONE {
                    self.load[self.model.own(leg.end) as usize] += rate;
                }
                leg.path.iter().for_each(|&arc| self.load[arc as usize] += rate);
            }
        }
        for r in 0..self.load.len() {
            self.note(r);
        }
    }

    pub fn placement(&self) -> Placement {
        let model = self.model;
        let mut placement = Placement::default();
        for s in 0..self.sending.len() {
            let flow = |w: usize| {
                let leg = &self.legs[self.flow(s, w)];
                FlowTo { end: leg.end, path: leg.path.as_slice().into() }
            };
            placement.flows.push((0..model.workers.len()).map(flow).collect());
            let open = model.aggregators.iter().enumerate().filter(|&(at, _)| self.takes(s, at) > 0);
            let path = |at: usize| self.legs[self.trunk(s, at)].path.as_slice().into();
            placement.trunks.push(open.map(|(at, &v)| (v, path(at))).collect());
        }
        placement.results = self.legs[self.tree(0)..].iter().map(|leg| leg.path.as_slice().into()).collect();
        placement
    }

    pub fn flow(&self, s: usize, w: usize) -> Unit {
        s * self.model.workers.len() + w
    }

    pub fn trunk(&self, s: usize, at: usize) -> Unit {
        self.flows() + s * self.model.aggregators.len() + at
    }

    fn flows(&self) -> usize {
        self.sending.len() * self.model.workers.len()
    }

    /// Returns the tree of results of a server; it exists only if results count.
    pub fn tree(&self, s: usize) -> Unit {
        self.flows() + self.sending.len() * self.model.aggregators.len() + s
    }

    pub fn kind(&self, unit: Unit) -> Kind {
        match unit.checked_sub(self.flows()) {
            None => Kind::Flow,
            Some(_) if unit >= self.tree(0) => Kind::Tree,
            Some(trunk) => Kind::Trunk(trunk % self.model.aggregators.len()),
        }
    }

    /// The worker that sends a flow.
    pub fn worker(&self, flow: Unit) -> usize {
        flow % self.model.workers.len()
    }

    /// The position of a unit's server.
    pub fn shard(&self, unit: Unit) -> usize {
        match self.kind(unit) {
            Kind::Flow => unit / self.model.workers.len(),
            Kind::Trunk(_) => (unit - self.flows()) / self.model.aggregators.len(),
            Kind::Tree => unit - self.tree(0),
        }
    }

    pub fn end(&self, unit: Unit) -> NodeIx {
        self.legs[unit].end
    }

    pub fn path(&self, unit: Unit) -> &[Arc] {
        &self.legs[unit].path
    }

    /// Returns how many flows of shard `s` an aggregator sums.
    pub fn takes(&self, s: usize, at: usize) -> u32 {
        self.takes[s * self.model.aggregators.len() + at]
    }

    pub fn position(&self, node: NodeIx) -> Option<usize> {
        let at = self.position[node as usize];
        (at != NONE).then_some(at as usize)
    }

    /// Prices of shard `s`, by resource.
    pub fn prices(&self, s: usize) -> &[f64] {
        let resources = self.load.len();
        &self.prices[s * resources..(s + 1) * resources]
    }

    /// Makes a resource dearer for shard `s` until its price is next worked out: by [`State::reprice`], or as
    /// its load changes.
    pub fn surcharge(&mut self, s: usize, r: Resource, amount: f64) {
        self.prices[s * self.load.len() + r as usize] += amount;
    }

    pub fn over(&self) -> &[Resource] {
        &self.over
    }

    fn excess(&self, r: usize, load: f64) -> f64 {
        (load * self.inverse[r] - 1.0 - NOTHING).max(0.0)
    }

    /// Returns the cost of `rate` more on a resource: weighted overload, then utilization as a tie-break.
    pub fn cost(&self, r: Resource, rate: f64) -> f64 {
        let r = r as usize;
        let after = self.load[r] + rate;
        let more = self.excess(r, after) - self.excess(r, self.load[r]);
        self.weight[r] * more + TIE * after.max(self.load[r]) * self.inverse[r] * rate.signum()
    }

    /// Returns the weighted overload.
    pub fn energy(&self) -> f64 {
        self.over
            .iter()
            .map(|&r| self.weight[r as usize] * self.excess(r as usize, self.load[r as usize]))
            .sum()
    }

    pub fn reprice(&mut self, r: usize) {
        let resources = self.load.len();
        for s in 0..self.sending.len() {
            self.prices[s * resources + r] = self.cost(r as Resource, self.sending[s]);
        }
    }

    /// Takes note of a new load.
    fn note(&mut self, r: usize) {
        self.reprice(r);
        let (is, was) = (self.load[r] * self.inverse[r] > 1.0 + 2.0 * NOTHING, self.place[r]);
        if is && was == NONE {
            self.place[r] = self.over.len() as u32;
            self.over.push(r as Resource);
        } else if !is && was != NONE {
            self.over.swap_remove(was as usize);
            if let Some(&moved) = self.over.get(was as usize) {
                self.place[moved as usize] = was;
            }
            self.place[r] = NONE;
        }
    }

    /// Increases the weights of overloaded resources.
    pub fn grow_weights(&mut self, factor: f64) {
        for n in 0..self.over.len() {
            let r = self.over[n] as usize;
            self.weight[r] *= factor;
            self.reprice(r);
        }
    }

    /// Scales the weights to a range in which they still distinguish resources.
    pub fn clip_weights(&mut self) {
        let heaviest = self.weight.iter().copied().fold(1.0, f64::max);
        if heaviest > 1e6 {
            self.weight.iter_mut().for_each(|w| *w = (*w / heaviest * 1e3).max(1.0));
            (0..self.load.len()).for_each(|r| self.reprice(r));
        }
    }

    /// Puts a tree that is off on these arcs.
    pub fn put_tree(&mut self, s: usize, arcs: &[Arc]) {
        self.put(self.tree(s), NONE, arcs);
    }

    /// Puts a unit that is not in use on a path; a tree ends nowhere.
    pub fn put(&mut self, unit: Unit, end: NodeIx, path: &[Arc]) {
        let mut leg = std::mem::take(&mut self.legs[unit].path);
        leg.clear();
        leg.extend_from_slice(path);
        self.legs[unit] = Leg { end, path: leg };
        self.shift(unit, true);
    }

    /// Removes a unit from its path, which [`State::path`] still returns until the unit is inserted
    /// elsewhere.
    pub fn take_off(&mut self, unit: Unit) {
        self.shift(unit, false);
        self.legs[unit].end = NONE;
    }

    fn shift(&mut self, unit: Unit, put: bool) {
        let s = self.shard(unit);
        let rate = if put { self.sending[s] } else { -self.sending[s] };
        let leg = std::mem::replace(&mut self.legs[unit], Leg { end: NONE, path: Vec::new() });
        let (word, bit) = (unit / 64, 1 << (unit % 64));
        let own = (leg.end != NONE).then(|| self.model.own(leg.end));
        for &r in leg.path.iter().chain(&own) {
            self.load[r as usize] += rate;
            self.crossing[r as usize * self.words + word] ^= bit;
            self.note(r as usize);
        }
        if let Some(at) = own.and_then(|_| self.position(leg.end)) {
            let takes = &mut self.takes[s * self.model.aggregators.len() + at];
            *takes = if put { *takes + 1 } else { *takes - 1 };
        }
        self.legs[unit] = leg;
    }

    /// Clears rounding errors on a resource without load.
    pub fn clear(&mut self, r: Resource) {
        self.load[r as usize] = 0.0;
        self.note(r as usize);
    }

    /// Returns how many units load a resource.
    pub fn crossing(&self, r: Resource) -> u32 {
        self.row(r).iter().map(|word| word.count_ones()).sum()
    }

    /// The n-th unit that loads a resource.
    pub fn nth_crossing(&self, r: Resource, mut n: u32) -> Unit {
        for (place, &word) in self.row(r).iter().enumerate() {
            if n < word.count_ones() {
                let mut left = word;
                (0..n).for_each(|_| left &= left - 1);
                return place * 64 + left.trailing_zeros() as usize;
            }
            n -= word.count_ones();
        }
        unreachable!("fewer units cross a resource than were counted")
    }

    fn row(&self, r: Resource) -> &[u64] {
        &self.crossing[r as usize * self.words..(r as usize + 1) * self.words]
    }
}
