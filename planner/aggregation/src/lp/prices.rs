//! The dual of LP-InArt: the price of every resource, the valuable columns at these prices, and the bound
//! that they prove.
//!
//! With prices l(e) of links, m(v) of switches, n(s) of servers' intake and p of the workers' uplinks, let
//! a(s, r) be the gain of covering rack r for one unit of F_s. Aggregating racks R' at v is worth sum over R'
//! of a(s, r) - |r| (l(r -> v) + m(v)) less l(v -> s) + n(s), so the best R' are the racks with positive
//! terms: that is the price of the y, z and q of one (s, v) in closed form. If no column has a positive value
//! and every F_s costs at least its gain of 1, no rate is above sum of l B + m C + n B' + p U.
//!
//! Results of server s cost F_s t(s) at least, with t(s) the sum of the prices of its cuts: no link's price
//! is below the sum of those that it is in, or is raised to that. So F_s costs sum_r a(s, r) + t(s) + p.

use crate::lp::fabric::{Column, Fabric, Routing};

/// Threshold of rounding errors; covering all racks of a server gains 1 or less.
const WORTH: f64 = 1e-9;

/// Prices of every row of the master program.
#[derive(Debug, Clone)]
pub(crate) struct Prices {
    /// l, by arc.
    pub links: Vec<f64>,
    /// m, by aggregator.
    pub switches: Vec<f64>,
    /// n, by server.
    pub servers: Vec<f64>,
    /// p.
    pub uplink: f64,
    /// a, by `[server][rack]`.
    pub cover: Vec<Vec<f64>>,
    /// t, by server: no mixture of trees of its results costs less at the links' prices.
    pub results: Vec<f64>,
}

/// Result of pricing.
pub(crate) struct Offers {
    /// Columns that raise the rate, over the routing below.
    pub columns: Vec<Column>,
    pub routing: Routing,
    /// Upper bound on the rate, in the master's unit.
    pub bound: f64,
}

impl Prices {
    /// Finds columns with a positive value, for routing number `routing`. The bound holds for shortest paths,
    /// or with `detours` for all.
    pub fn offers(
        &self,
        fabric: &Fabric<'_>,
        limits: &Limits,
        fixed: Option<&[f64]>,
        routing: usize,
        detours: bool,
    ) -> Offers {
        let model = fabric.model;
        let (made, costs) = fabric.route(&self.links, detours);
        let mut columns = Vec::new();
        let mut value = total(&self.links, &limits.links)
            + total(&self.switches, &limits.switches)
            + total(&self.servers, &limits.servers)
            + self.uplink * limits.uplink;
        let switches = model.aggregators.len();
        // Cost of bringing all of a rack to a switch and aggregating it there, [switch][rack].
        let joining: Vec<Vec<Option<f64>>> = (0..switches)
            .map(|v| {
                let cost = |r: usize| {
                    let position = made.to_switch(v).position(fabric.racks[r].source)?;
                    Some(fabric.sizes[r] * (costs[v][position] + self.switches[v]))
                };
                (0..fabric.racks.len()).map(cost).collect()
            })
            .collect();
        for (server, cover) in self.cover.iter().enumerate() {
            let (dag, costs) = (made.to_server(server), &costs[switches + server]);
            // Increase of this server's intake price at which no column has a positive value.
            let mut lacking: f64 = 0.0;
            for (r, &earned) in cover.iter().enumerate() {
                let Some(position) = dag.position(fabric.racks[r].source) else { continue };
                let worth = earned - fabric.sizes[r] * (costs[position] + self.servers[server]);
                lacking = lacking.max(worth / fabric.sizes[r]);
                if worth > WORTH {
                    columns.push(Column { server, switch: None, racks: vec![r], routing });
                }
            }
            for (v, joining) in joining.iter().enumerate() {
                let Some(position) = dag.position(model.aggregators[v]) else { continue };
                let mut worth = -costs[position] - self.servers[server];
                let mut racks = Vec::new();
                for (r, (&earned, cost)) in cover.iter().zip(joining).enumerate() {
                    if let Some(cost) = cost.filter(|&cost| earned > cost) {
                        worth += earned - cost;
                        racks.push(r);
                    }
                }
                lacking = lacking.max(worth);
                if worth > WORTH {
                    columns.push(Column { server, switch: Some(v), racks, routing });
                }
            }
            value += lacking * limits.servers[server];
        }
        let all = |(cover, results): (&Vec<f64>, &f64)| cover.iter().sum::<f64>() + results;
        let earned = self.cover.iter().zip(&self.results).map(all);
        let gain = self.uplink
            + match fixed {
                Some(shares) => earned.zip(shares).map(|(earned, share)| earned * share).sum::<f64>(),
                None => earned.fold(f64::INFINITY, f64::min),
            };
        Offers { columns, routing: made, bound: if gain > 0.0 { value / gain } else { f64::INFINITY } }
    }
}

/// Right-hand sides of the master program, in its unit.
pub(crate) struct Limits {
    /// B(e) - b(e), by arc.
    pub links: Vec<f64>,
    /// C(v) - c(v), by aggregator.
    pub switches: Vec<f64>,
    /// B'(s), by server: the limit of its ingress and its links.
    pub servers: Vec<f64>,
    /// Rate of the slowest worker.
    pub uplink: f64,
}

fn total(prices: &[f64], limits: &[f64]) -> f64 {
    // A resource without a limit has no price.
    prices.iter().zip(limits).filter(|&(&price, _)| price > 0.0).map(|(price, limit)| price * limit).sum()
}
