//! A placement: the aggregation switch (if any) of each worker's share of each shard, and the paths. The
//! integral variables y, z and q of Eq. (1): `ends[s][w]` is the one v with y_v^{s,w} = 1, or the server
//! itself for y^{s,w} = 1; a trunk is a (s, v) with z_v^s = 1; the paths are the q that are 1. Beyond the
//! InArt paper, a trunk may end at a second aggregator, at the end of its path; and the results return over a
//! tree for each server.

use std::collections::BTreeMap;

use crate::model::{Model, NodeIx, Resource};
use crate::packing::{Row, maximize_sum};
use crate::plan::WORKERS_PER_SUM;
use crate::results::Tree;
use crate::routes::Path;

/// Destination of one worker's share of one shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FlowTo {
    /// The aggregator, or the server for a direct flow.
    pub end: NodeIx,
    pub path: Path,
}

/// All flows and trunks, indexed by the position of server and worker in the job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Placement {
    /// Flows by `[server][worker]`.
    pub flows: Vec<Vec<FlowTo>>,
    /// `[server]`, by aggregator.
    pub trunks: Vec<BTreeMap<NodeIx, Path>>,
    /// `[server]`: the trees of results; empty where results do not count.
    pub results: Vec<Tree>,
}

/// n(s, r): how many flows and partial sums of each server's shard cross each resource, and results where
/// they count.
#[derive(Debug, Clone)]
pub(crate) struct Counts {
    servers: usize,
    /// Units by `[resource][server]`, flat.
    units: Vec<u32>,
}

impl Counts {
    pub fn new(model: &Model<'_>) -> Self {
        let servers = model.servers.len();
        Counts { servers, units: vec![0; servers * model.capacity.len()] }
    }

    pub fn add(&mut self, resource: Resource, server: usize) {
        self.units[resource as usize * self.servers + server] += 1;
    }

    /// Returns the used resources.
    pub fn used(&self) -> impl Iterator<Item = (Resource, &[u32])> {
        let rows = self.units.chunks_exact(self.servers).enumerate();
        rows.filter(|(_, units)| units.iter().any(|&n| n > 0)).map(|(r, units)| (r as Resource, units))
    }
}

/// sum over s of x_s n(s, r).
pub(crate) fn weighted(units: &[u32], shares: &[f64]) -> f64 {
    units.iter().zip(shares).map(|(&n, &x)| f64::from(n) * x).sum()
}

/// The split of one gradient over the servers, and the rate it is sent at.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rated {
    /// Rate f, bit/s.
    pub rate: f64,
    /// x_s; they sum to 1.
    pub shares: Vec<f64>,
}

/// Returns the end of a trunk: the server, or a second aggregator.
pub(crate) fn trunk_end(model: &Model<'_>, path: &Path) -> NodeIx {
    model.head(*path.last().expect("a trunk leads from a switch to another node"))
}

impl Placement {
    pub fn counts(&self, model: &Model<'_>) -> Counts {
        let mut counts = Counts::new(model);
        for s in 0..model.servers.len() {
            for flow in &self.flows[s] {
                counts.add(model.own(flow.end), s);
                flow.path.iter().for_each(|&arc| counts.add(arc, s));
            }
            let large = self.flows[s].len() > WORKERS_PER_SUM;
            let summed = if large { self.summed(model, s) } else { BTreeMap::new() };
            for (v, path) in &self.trunks[s] {
                let workers = summed.get(v).copied().unwrap_or(1);
                for _ in 0..workers.div_ceil(WORKERS_PER_SUM) {
                    counts.add(model.own(trunk_end(model, path)), s);
                    path.iter().for_each(|&arc| counts.add(arc, s));
                }
            }
        }
        for (s, tree) in self.results.iter().enumerate() {
            tree.iter().for_each(|&arc| counts.add(arc, s));
        }
        counts
    }

    /// Workers in the sum of every aggregator of shard `s`.
    fn summed(&self, model: &Model<'_>, s: usize) -> BTreeMap<NodeIx, usize> {
        let mut summed: BTreeMap<NodeIx, usize> = BTreeMap::new();
        for flow in &self.flows[s] {
            let mut at = flow.end;
            *summed.entry(at).or_default() += 1;
            while let Some(path) = self.trunks[s].get(&at) {
                at = trunk_end(model, path);
                *summed.entry(at).or_default() += 1;
            }
        }
        summed
    }
}

impl Counts {
    /// Returns the rate at given shares. `limits` returns whether a resource counts.
    pub fn rate(&self, model: &Model<'_>, shares: &[f64], limits: impl Fn(Resource) -> bool) -> f64 {
        self.used()
            .filter(|&(resource, _)| limits(resource))
            .map(|(resource, units)| (model.capacity_of(resource), weighted(units, shares)))
            .filter(|&(_, demand)| demand > 0.0)
            .map(|(capacity, demand)| capacity / demand)
            .fold(f64::INFINITY, f64::min)
    }

    /// The best shares, and their rate.
    pub fn best_shares(&self, model: &Model<'_>) -> Rated {
        let mut rows: Vec<Row> = Vec::new();
        let mut place: rustc_hash::FxHashMap<&[u32], usize> = Default::default();
        for (resource, units) in self.used() {
            let limit = model.capacity_of(resource);
            let at = *place.entry(units).or_insert_with(|| {
                rows.push(Row { uses: units.iter().map(|&n| f64::from(n)).collect(), limit });
                rows.len() - 1
            });
            rows[at].limit = rows[at].limit.min(limit);
        }
        let sending = maximize_sum(self.servers, &rows);
        let rate: f64 = sending.iter().sum();
        if rate <= 0.0 {
            return Rated { rate: 0.0, shares: equal_shares(self.servers) };
        }
        let shares: Vec<f64> = sending.iter().map(|f| f / rate).collect();
        let rate = self.rate(model, &shares, |_| true);
        Rated { rate, shares }
    }
}

impl Counts {
    /// Returns the shares nearest to equal ones, on the line from `rated`, that keep its rate: no server is
    /// idle only because the optimum is not unique. Shares to be kept are not changed.
    pub fn leveled(&self, model: &Model<'_>, rated: &Rated) -> Vec<f64> {
        if model.kept.is_some() {
            return rated.shares.clone();
        }
        let equal = 1.0 / self.servers as f64;
        let mixed = |part: f64| -> Vec<f64> { rated.shares.iter().map(|x| x + part * (equal - x)).collect() };
        let keeps = |part: f64| self.rate(model, &mixed(part), |_| true) >= rated.rate * (1.0 - 1e-15);
        if keeps(1.0) { mixed(1.0) } else { mixed(crate::bisect::bisect(1.0, keeps)) }
    }
}

/// x_s = 1 / S.
pub(crate) fn equal_shares(servers: usize) -> Vec<f64> {
    vec![1.0 / servers as f64; servers]
}
