//! Finds prices that refute given rates: subgradient ascent of a concave function, with momentum.
//!
//! At prices (pi, u), take for every fill its best units and for every reward its cheapest paths. A unit
//! price should rise where those paths use more than the fill holds, a reward where fewer workers are served
//! than exist. Trees of results use links like paths.

use super::prices::{Certificate, CheapestPaths, Network, Prices};
use crate::model::Arc;

/// Share of the last direction that is kept.
const MOMENTUM: f64 = 0.95;
/// Steps aim at this excess, or this much above the best so far (Polyak's rule with an estimated optimum).
const AIM: f64 = 0.05;
const GAIN: f64 = 0.02;
/// Number of iterations without progress after which steps shrink by this factor.
const PATIENCE: usize = 80;
const SHRINK: f64 = 0.7;

/// Prices during the ascent.
pub(super) struct Ascent<'n, 'm> {
    network: &'n Network<'m>,
    paths: CheapestPaths,
    /// Looks so far, over all rates.
    pub looks: usize,
}

/// The best prices an ascent has found.
pub(super) struct Peak {
    pub excess: f64,
    pub prices: Prices,
    pub certificate: Certificate,
}

impl<'n, 'm> Ascent<'n, 'm> {
    pub fn new(network: &'n Network<'m>) -> Self {
        Ascent { network, paths: CheapestPaths::new(network), looks: 0 }
    }

    /// Climbs until `sending` is refuted, for at most `looks` iterations and while time is left.
    pub fn climb(
        &mut self,
        sending: &[f64],
        mut prices: Prices,
        looks: usize,
        time_left: &dyn Fn() -> f64,
    ) -> Peak {
        let mut heading = prices.zero();
        let mut peak: Option<Peak> = None;
        let (mut factor, mut stale, mut spent) = (1.0, 0, 0);
        loop {
            self.looks += 1;
            spent += 1;
            self.paths.find(self.network, &mut prices);
            let certificate = Certificate::new(self.network, &prices, &self.paths);
            let mut slope = prices.zero();
            let filled = self.slope(sending, &prices, &certificate, &mut slope);
            let excess = certificate.excess_over(filled);
            let before = peak.as_ref().map_or(f64::NEG_INFINITY, |peak| peak.excess);
            stale = if excess > before + 1e-5 { 0 } else { stale + 1 };
            if excess > before {
                peak = Some(Peak { excess, prices: prices.clone(), certificate });
            }
            if excess > 0.0 || filled <= 0.0 || spent >= looks || time_left() <= 0.0 {
                break;
            }
            if stale > PATIENCE {
                (factor, stale) = (factor * SHRINK, 0);
            }
            let aim = AIM.max(excess.max(before) + GAIN);
            self.step(&mut prices, &mut heading, &slope, |norm| factor * (aim - excess) * filled / norm);
        }
        peak.expect("there is at least one iteration, and no excess is below minus infinity")
    }

    /// Adds the slope at `prices` to zeros; returns the value of the fills.
    fn slope(
        &mut self,
        sending: &[f64],
        prices: &Prices,
        certificate: &Certificate,
        slope: &mut Prices,
    ) -> f64 {
        let network = self.network;
        let model = network.model;
        let mut served: Vec<Vec<f64>> = prices.reward.iter().map(|row| vec![0.0; row.len()]).collect();
        let mut path: Vec<Arc> = Vec::new();
        let mut filled = 0.0;
        for fill in &certificate.fills {
            let group = model.aggregators.iter().position(|&v| model.own(v) == fill.resource);
            filled += fill.fill(sending, |s, units| {
                let Some(aggregator) = group else {
                    slope.unit[s][fill.resource as usize] -= units as f64;
                    return;
                };
                let v = model.aggregators[aggregator];
                let mut left = units;
                for (_, rack) in self.paths.gains(network, prices, s, aggregator) {
                    let joining = left.min(network.racks[rack].workers.len());
                    if joining == 0 {
                        break;
                    }
                    left -= joining;
                    served[s][rack] += joining as f64;
                    let costs = &self.paths.from_rack[s][rack];
                    network.dags.from(network.racks[rack].source).trace(model, costs, v, &mut path);
                    path.drain(..).for_each(|arc| slope.unit[s][arc as usize] += joining as f64);
                }
                if units > 0 {
                    network.dags.to(model.servers[s]).trace(model, &self.paths.direct[s], v, &mut path);
                    path.drain(..).for_each(|arc| slope.unit[s][arc as usize] += 1.0);
                    slope.unit[s][network.own(s)] += 1.0;
                }
            });
        }
        for s in 0..network.trees.len() {
            self.paths.tree(network, prices, s, &mut path);
            path.drain(..).for_each(|arc| slope.unit[s][arc as usize] += 1.0);
        }
        for (s, served) in served.iter().enumerate() {
            for ((n, rack), served) in network.racks.iter().enumerate().zip(served) {
                let lacking = rack.workers.len() as f64 - served;
                let direct = self.paths.direct(network, prices, s, rack.source);
                // At that reward a direct flow is as good as none.
                if lacking > 0.0 && prices.reward[s][n] >= direct {
                    network.dags.to(model.servers[s]).trace(
                        model,
                        &self.paths.direct[s],
                        rack.source,
                        &mut path,
                    );
                    path.drain(..).for_each(|arc| slope.unit[s][arc as usize] += lacking);
                    slope.unit[s][network.own(s)] += lacking;
                } else {
                    slope.reward[s][n] += lacking;
                }
            }
        }
        filled
    }

    /// One step along the slope and the heading so far; prices stay in their range.
    fn step(&self, prices: &mut Prices, heading: &mut Prices, slope: &Prices, length: impl Fn(f64) -> f64) {
        let capacity = &self.network.model.capacity;
        let mut norm = 0.0;
        for ((heading, slope), price) in heading.unit.iter_mut().zip(&slope.unit).zip(&prices.unit) {
            for (r, heading) in heading.iter_mut().enumerate() {
                *heading = MOMENTUM * *heading + slope[r];
                let free = capacity[r].is_finite() && (*heading > 0.0 || price[r] > 0.0);
                norm += if free { *heading * *heading } else { 0.0 };
            }
        }
        for (heading, slope) in heading.reward.iter_mut().flatten().zip(slope.reward.iter().flatten()) {
            *heading = MOMENTUM * *heading + slope;
            norm += *heading * *heading;
        }
        if norm <= 0.0 {
            return;
        }
        let length = length(norm);
        for (price, heading) in prices.unit.iter_mut().zip(&heading.unit) {
            for ((price, heading), limit) in price.iter_mut().zip(heading).zip(capacity) {
                *price = if limit.is_finite() { (*price + length * heading).max(0.0) } else { 0.0 };
            }
        }
        for (reward, heading) in prices.reward.iter_mut().flatten().zip(heading.reward.iter().flatten()) {
            *reward += length * heading;
        }
    }
}
