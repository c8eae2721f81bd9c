//! Prices of whole units, and their proofs.

use super::fill::{Fill, Worth};
use crate::classes::{Class, classes};
use crate::dag::{Costs, Dags};
use crate::model::{Arc, Model, NodeIx};
use crate::router::Router;
use crate::steiner::{self, Steiner};

/// A job's racks, and the paths of its flows.
pub(super) struct Network<'m> {
    pub model: &'m Model<'m>,
    pub dags: &'m Dags<'m>,
    pub racks: Vec<Class>,
    /// Steiner problem of every shard's results; empty if they do not count.
    pub trees: Vec<Steiner<'m>>,
    /// Links from servers or to workers if results count, by resource.
    only_results: Vec<bool>,
}

impl<'m> Network<'m> {
    /// Creates the network with gradients and sums over the paths of `dags`.
    pub fn new(router: &Router<'m>, dags: &'m Dags<'m>) -> Self {
        let model = router.model;
        let trees = Steiner::of_job(router);
        let back = |arc: Arc| {
            let from_server = model.servers.contains(&model.tail(arc));
            !trees.is_empty() && (from_server || model.workers.contains(&model.head(arc)))
        };
        let own = model.capacity.len() - model.arcs();
        let only_results = (0..model.arcs() as Arc).map(back).chain((0..own).map(|_| false)).collect();
        Network { model, dags, racks: classes(model), trees, only_results }
    }

    /// The ingress of a shard's server, as a position among the resources.
    pub fn own(&self, s: usize) -> usize {
        self.model.own(self.model.servers[s]) as usize
    }
}

/// Lagrange multipliers, per shard.
#[derive(Debug, Clone)]
pub(super) struct Prices {
    /// pi by `[shard][resource]`: price of one unit on a link or into the shard's server. Never negative; 0
    /// if unlimited.
    pub unit: Vec<Vec<f64>>,
    /// u: `[shard][rack]`, the reward for bringing one worker's gradient to the shard's server.
    pub reward: Vec<Vec<f64>>,
}

impl Prices {
    /// Every limited resource equally dear when full.
    pub fn even(network: &Network<'_>, sending: &[f64]) -> Self {
        let model = network.model;
        let mean = sending.iter().sum::<f64>() / sending.len() as f64;
        let unit = |(s, f): (usize, &f64)| {
            let price = |(r, &b): (usize, &f64)| {
                let counts = (r < model.arcs() || r == network.own(s)) && b.is_finite() && b > 0.0;
                if counts { f / b } else { 0.0 }
            };
            model.capacity.iter().enumerate().map(price).collect()
        };
        Prices {
            unit: sending.iter().enumerate().map(unit).collect(),
            reward: sending.iter().map(|f| vec![f / mean; network.racks.len()]).collect(),
        }
    }

    pub fn zero(&self) -> Self {
        let zeros = |rows: &Vec<Vec<f64>>| rows.iter().map(|row| vec![0.0; row.len()]).collect();
        Prices { unit: zeros(&self.unit), reward: zeros(&self.reward) }
    }

    /// Returns prices proportional to the rates, as for splittable units: a good start for other rates.
    pub fn scaled(&self, from: &[f64], to: &[f64]) -> Self {
        let mut scaled = self.clone();
        for (s, (from, to)) in from.iter().zip(to).enumerate() {
            let factor = if *from > 0.0 { to / from } else { 0.0 };
            scaled.unit[s].iter_mut().chain(&mut scaled.reward[s]).for_each(|price| *price *= factor);
        }
        scaled
    }
}

/// The cheapest paths at given prices.
#[derive(Debug, Default)]
pub(super) struct CheapestPaths {
    /// `[shard]`, to its server.
    pub direct: Vec<Costs>,
    /// `[shard][rack]`, to every aggregator.
    pub from_rack: Vec<Vec<Costs>>,
    /// t by `[shard]`: at most the cost of any tree of its results.
    pub results: Vec<f64>,
    /// Ascents by `[shard]`.
    ascents: Vec<steiner::Ascent>,
}

impl CheapestPaths {
    pub fn new(network: &Network<'_>) -> Self {
        let costs = |n: usize| (0..n).map(|_| Costs::default()).collect::<Vec<_>>();
        let model = network.model;
        let from_rack = model.servers.iter().map(|_| costs(network.racks.len())).collect();
        let ascents = network.trees.iter().map(|_| steiner::Ascent::default()).collect();
        CheapestPaths { direct: costs(model.servers.len()), from_rack, results: Vec::new(), ascents }
    }

    /// Prices all of them; lowers rewards to the cost of a direct flow, which never proves less.
    pub fn find(&mut self, network: &Network<'_>, prices: &mut Prices) {
        let model = network.model;
        for (s, &server) in model.servers.iter().enumerate() {
            network.dags.to(server).price(model, &prices.unit[s], &mut self.direct[s]);
            for (rack, costs) in network.racks.iter().zip(&mut self.from_rack[s]) {
                network.dags.from(rack.source).price(model, &prices.unit[s], costs);
            }
            for (n, rack) in network.racks.iter().enumerate() {
                let direct = self.direct(network, prices, s, rack.source);
                let reward = &mut prices.reward[s][n];
                *reward = reward.min(direct);
            }
        }
        let priced = network.trees.iter().zip(&mut self.ascents).zip(&prices.unit);
        self.results = priced.map(|((tree, ascent), unit)| ascent.bound(tree, unit)).collect();
    }

    /// Appends the arcs of a tree of shard s that costs little.
    pub fn tree(&mut self, network: &Network<'_>, prices: &Prices, s: usize, tree: &mut Vec<Arc>) {
        self.ascents[s].tree(&network.trees[s], &prices.unit[s], tree);
    }

    /// Returns the cost of a direct flow from a rack, or of a trunk from a switch.
    pub fn direct(&self, network: &Network<'_>, prices: &Prices, s: usize, from: NodeIx) -> f64 {
        self.direct[s].of(from) + prices.unit[s][network.own(s)]
    }

    /// The racks that gain by joining a group of shard s at an aggregator, the best first.
    pub fn gains(
        &self,
        network: &Network<'_>,
        prices: &Prices,
        s: usize,
        aggregator: usize,
    ) -> Vec<(f64, usize)> {
        let v = network.model.aggregators[aggregator];
        let gain = |(n, costs): (usize, &Costs)| (prices.reward[s][n] - costs.of(v), n);
        let mut gains: Vec<_> =
            self.from_rack[s].iter().enumerate().map(gain).filter(|&(gain, _)| gain > 0.0).collect();
        gains.sort_by(|a, b| b.0.total_cmp(&a.0));
        gains
    }
}

/// If `certain` exceeds the value of all fills at F, no plan sends at rates F or higher.
#[derive(Debug, Clone)]
pub(super) struct Certificate {
    /// Sum of u over shards and workers, and of t over shards.
    certain: f64,
    /// Sum of |u|: the scale of rounding errors.
    scale: f64,
    pub fills: Vec<Fill>,
}

/// Relative rounding errors allowed for; sums of some ten thousand terms make errors far below.
const ROUNDING: f64 = 1e-9;

impl Certificate {
    pub fn new(network: &Network<'_>, prices: &Prices, paths: &CheapestPaths) -> Self {
        let model = network.model;
        let rewards = || {
            let of = |rewards: &Vec<f64>| -> Vec<f64> {
                rewards.iter().zip(&network.racks).map(|(u, rack)| u * rack.workers.len() as f64).collect()
            };
            prices.reward.iter().flat_map(of)
        };
        let groups = model.aggregators.iter().enumerate().map(|(a, &v)| {
            let worth = |s: usize| {
                let mut value = -paths.direct(network, prices, s, v);
                let mut table = Vec::new();
                for (gain, rack) in paths.gains(network, prices, s, a) {
                    table.extend(network.racks[rack].workers.iter().map(|_| {
                        value += gain;
                        value
                    }));
                }
                (value > 0.0).then_some((s, Worth::Table(table)))
            };
            let shards = (0..model.servers.len()).filter_map(worth).collect();
            Fill { resource: model.own(v), capacity: model.capacity_of(model.own(v)), shards }
        });
        let unit = &prices.unit;
        let links = (0..model.capacity.len()).map(|r| {
            let priced = (0..unit.len()).filter(|&s| unit[s][r] > 0.0);
            // A link that only results use has one unit of each shard at most.
            let worth = |s: usize| match network.only_results[r] {
                true => Worth::Table(vec![unit[s][r]]),
                false => Worth::Each(unit[s][r]),
            };
            let shards = priced.map(|s| (s, worth(s))).collect();
            Fill { resource: r as u32, capacity: model.capacity[r], shards }
        });
        Certificate {
            certain: rewards().sum::<f64>() + paths.results.iter().sum::<f64>(),
            scale: rewards().map(f64::abs).sum::<f64>() + paths.results.iter().sum::<f64>(),
            fills: groups.chain(links).filter(|fill| !fill.shards.is_empty()).collect(),
        }
    }

    /// Returns the excess of these rates, relative to the value of the fills; positive: refuted.
    pub fn excess(&self, sending: &[f64]) -> f64 {
        self.excess_over(self.fills.iter().map(|fill| fill.most(sending)).sum())
    }

    pub fn excess_over(&self, filled: f64) -> f64 {
        // Prices that are all 0 prove nothing.
        if filled <= 0.0 && self.certain <= 0.0 {
            return -1.0;
        }
        (self.certain - filled - ROUNDING * (self.scale + filled)) / filled.max(f64::MIN_POSITIVE)
    }
}
