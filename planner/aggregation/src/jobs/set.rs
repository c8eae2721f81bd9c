//! Plans next to each other: their common rates and shares, the capacity that each leaves to the others, and
//! the document.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::fair::{Program, Row, fill, is_fairer};
use super::uses::{Index, Units, per_bit};
use crate::model::{Model, Resource};
use crate::options::{Options, Shares};
use crate::plan::{Limit, OtherUse, Plan};
use inart_topologies::switched::{Job, Topology};

/// The jobs to plan on one network.
pub(super) struct Network<'a> {
    pub topology: &'a Topology,
    pub jobs: &'a [&'a Job],
    pub options: &'a Options<'a>,
    /// Capacity of every resource after background traffic.
    pub capacity: Vec<f64>,
    /// Capacity, infinite where the scheme ignores it.
    pub limits: Vec<f64>,
    pub index: Index<'a>,
    /// Active plans, by job, if these are planned again.
    pub running: Option<&'a [Plan]>,
}

/// A plan with its use of resources.
pub(super) struct Laid {
    pub plan: Plan,
    pub units: Units,
}

/// One plan per job, all sending.
#[derive(Clone)]
pub(super) struct Set {
    pub laid: Vec<Rc<Laid>>,
    /// x_s by job.
    pub shares: Vec<Vec<f64>>,
    /// Bit/s by job.
    pub rates: Vec<f64>,
}

impl<'a> Network<'a> {
    pub fn new(topology: &'a Topology, jobs: &'a [&'a Job], options: &'a Options<'a>) -> Self {
        let capacity = crate::model::capacities(topology);
        let mut limits = capacity.clone();
        if options.scheme.promises().ignores.contains(&Limit::Aggregation) {
            for id in topology
                .node_ids()
                .filter(|&id| topology.node(id).kind == inart_topologies::switched::NodeKind::Switch)
            {
                limits[2 * topology.links().len() + id.index()] = f64::INFINITY;
            }
        }
        Network { topology, jobs, options, capacity, limits, index: Index::new(topology), running: None }
    }

    pub fn laid(&self, plan: Plan) -> Rc<Laid> {
        let units = self.index.units(&plan);
        Rc::new(Laid { plan, units })
    }

    /// Returns whether shares may be chosen.
    fn chooses_shares(&self) -> bool {
        let fixed = self.options.equal_shares || self.running.is_some() && self.options.keep_shares;
        self.options.scheme.promises().shares == Shares::Free && !fixed
    }

    /// Max-min fair rates of plans side by side, at their own shares.
    pub fn at_own_shares(&self, laid: Vec<Rc<Laid>>) -> Set {
        let own = |laid: &Rc<Laid>| laid.plan.shards.iter().map(|shard| shard.share).collect();
        let shares: Vec<Vec<f64>> = laid.iter().map(own).collect();
        let rates = self.fill(&laid, &shares);
        Set { laid, shares, rates }
    }

    /// Returns max-min fair rates of plans next to each other, at their own shares or, where shares are free,
    /// at better ones. No rate is sought above `most`.
    pub fn side_by_side(&self, laid: Vec<Rc<Laid>>, most: &[f64]) -> Set {
        let set = self.at_own_shares(laid);
        let done = set.rates.iter().zip(most).all(|(rate, most)| *rate >= most * (1.0 - 1e-9));
        if done || !self.chooses_shares() {
            return set;
        }
        let Some(shares) = self.fairest_shares(&set.laid, most) else { return set };
        let rates = self.fill(&set.laid, &shares);
        if is_fairer(&rates, &set.rates) { Set { shares, rates, ..set } } else { set }
    }

    fn fill(&self, laid: &[Rc<Laid>], shares: &[Vec<f64>]) -> Vec<f64> {
        let uses: Vec<_> =
            laid.iter().zip(shares).map(|(laid, shares)| per_bit(&laid.units, shares)).collect();
        fill(&uses, &self.limits)
    }

    /// The shares of all jobs with which their rates are fairest, paths and groups staying: F_s as variables.
    fn fairest_shares(&self, laid: &[Rc<Laid>], most: &[f64]) -> Option<Vec<Vec<f64>>> {
        let mut rates: Vec<Vec<usize>> = Vec::new();
        let mut variables = 0;
        // By resource: (variable, units), and their largest sum.
        let mut loads: FxHashMap<Resource, (Vec<(usize, u32)>, f64)> = FxHashMap::default();
        for (laid, most) in laid.iter().zip(most) {
            let first = variables;
            variables += laid.plan.shards.len();
            rates.push((first..variables).collect());
            for (&resource, units) in &laid.units {
                let (terms, load) = loads.entry(resource).or_default();
                terms.extend(units.iter().enumerate().filter(|&(_, &n)| n > 0).map(|(s, &n)| (first + s, n)));
                *load += most * f64::from(units.iter().copied().max().unwrap_or(0));
            }
        }
        let mut tightest: FxHashMap<Vec<(usize, u32)>, f64> = FxHashMap::default();
        for (resource, (terms, load)) in loads {
            let limit = self.limits[resource as usize];
            if load > limit {
                let least = tightest.entry(terms).or_insert(limit);
                *least = least.min(limit);
            }
        }
        let mut rows: Vec<_> = tightest.into_iter().collect();
        rows.sort_by(|a, b| a.0.cmp(&b.0)); // a solver's answer depends on the order
        let row = |(terms, limit): (Vec<(usize, u32)>, f64)| Row {
            terms: terms.into_iter().map(|(v, n)| (v, f64::from(n))).collect(),
            limit,
            equal: false,
        };
        let rows = rows.into_iter().map(row).collect();
        let program = Program { variables, rates, most: most.to_vec(), rows };
        let (_, values) = program.solve()?;
        let shares = |of_job: &Vec<usize>| -> Vec<f64> {
            let total: f64 = of_job.iter().map(|&v| values[v]).sum();
            // Less than a millionth of a gradient is the solver's rounding.
            let kept: Vec<f64> =
                of_job.iter().map(|&v| values[v] / total).map(|x| if x > 1e-6 { x } else { 0.0 }).collect();
            let sum: f64 = kept.iter().sum();
            kept.iter().map(|x| x / sum).collect()
        };
        let shares: Vec<Vec<f64>> = program.rates.iter().map(shares).collect();
        shares.iter().flatten().all(|x| x.is_finite()).then_some(shares)
    }

    /// Returns the capacity of every resource that the jobs other than `job` leave when all send at `rates`.
    pub fn left_for(&self, job: usize, set: &Set, rates: &[f64]) -> Vec<f64> {
        let mut left = self.capacity.clone();
        for other in (0..set.laid.len()).filter(|&other| other != job) {
            for (resource, use_) in per_bit(&set.laid[other].units, &set.shares[other]) {
                left[resource as usize] -= use_ * rates[other];
            }
        }
        left.iter_mut().zip(&self.capacity).for_each(|(left, whole)| *left = snapped(*left, *whole));
        left
    }

    /// Writes the rates, shares and loads of all jobs into their plans.
    pub fn write(&self, set: &Set) -> Vec<Plan> {
        let mut taken = vec![0.0; self.capacity.len()];
        let uses: Vec<_> =
            set.laid.iter().zip(&set.shares).map(|(laid, shares)| per_bit(&laid.units, shares)).collect();
        for (uses, rate) in uses.iter().zip(&set.rates) {
            uses.iter().for_each(|&(resource, use_)| taken[resource as usize] += use_ * rate);
        }
        let plans = set.laid.iter().enumerate().map(|(j, laid)| {
            let model = Model::new(self.topology, self.jobs[j], self.options.results);
            let rate = set.rates[j];
            let mut plan = laid.plan.clone();
            plan.rate_bps = rate;
            plan.shards.iter_mut().zip(&set.shares[j]).for_each(|(shard, &share)| shard.share = share);
            plan.load.clear();
            plan.other_jobs.clear();
            for &(resource, use_) in uses[j].iter().filter(|&&(r, _)| self.capacity[r as usize].is_finite()) {
                let used_bps = use_ * rate;
                let mut load = model.load(resource, used_bps);
                let others = taken[resource as usize] - used_bps;
                if others > 1e-9 * load.capacity_bps {
                    plan.other_jobs.push(OtherUse { resource: load.resource.clone(), used_bps: others });
                    load.capacity_bps = (load.capacity_bps - others).max(0.0);
                }
                plan.load.push(load);
            }
            plan.load.sort_by(|a, b| (b.used_bps / b.capacity_bps).total_cmp(&(a.used_bps / a.capacity_bps)));
            plan
        });
        plans.collect()
    }
}

/// Returns the rest of a capacity; a rest of the size of a rounding error is zero.
pub(super) fn snapped(left: f64, whole: f64) -> f64 {
    if left > 1e-9 * whole { left } else { 0.0 }
}

/// Returns the rest of one of `parts` equal parts, from now on, of a time in seconds.
pub(super) fn part_of_time(time_left: &dyn Fn() -> f64, parts: usize) -> impl Fn() -> f64 {
    let at_first = time_left();
    let rest = if at_first.is_finite() { at_first * (1.0 - 1.0 / parts as f64) } else { 0.0 };
    move || time_left() - rest
}
