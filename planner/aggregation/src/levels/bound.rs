//! An upper bound on every plan that adds each gradient up at most twice, unsplit, by any routes.
//!
//! A switch with capacity c for shard s receives at most floor(c / F_s) units of it and sends one, at any
//! level. So server s, which receives at most floor(B'(s) / F_s) of its W units, needs R = W - floor(B'(s) /
//! F_s) units removed by switches. A whole C(v) removes g - 1 with g = floor(C(v) / F_s), a part c of it at
//! most c (g - 1) / (g F_s). That gives the least capacity T(F) for a rate F to a server, and the bound is
//! the largest sum of F_s with sum T(F_s) <= sum C(v). Two levels themselves limit it: a server receives at
//! least W / g^2 units.

use crate::bounds::{bisect_up, whole};
use crate::model::Model;

/// Number of parts of the switches' total capacity in the allocation. A server's last part is counted whole,
/// so the bound is above the best allocation by a part per server at most.
const PARTS: usize = 2000;

/// The bound, bit/s. `equal` bounds only plans with x_s = 1/S.
pub(crate) fn bound(model: &Model<'_>, equal: bool) -> f64 {
    let switches = Switches::new(model);
    let uplink = model.min_uplink_bps();
    let needs = Needs { workers: model.workers.len() as f64, switches: &switches };
    let intakes: Vec<f64> = model.servers.iter().map(|&s| model.intake_bps(s)).collect();
    let outlets: Vec<f64> = model.servers.iter().map(|&s| model.widest_outlet_bps(s)).collect();
    if equal {
        let top = intakes.iter().chain(&outlets).copied().fold(uplink, f64::min);
        let fits = |f: f64| intakes.iter().map(|&b| needs.capacity(b, f)).sum::<f64>() <= switches.total;
        return uplink.min(bisect_up(top, fits) * intakes.len() as f64);
    }
    // best[t]: the largest sum so far with t parts.
    let mut best = vec![0.0; PARTS + 1];
    let mut known: Vec<((f64, f64), Vec<f64>)> = Vec::new();
    for limits in intakes.into_iter().zip(outlets) {
        if !known.iter().any(|(alike, _)| *alike == limits) {
            known.push((limits, needs.rates(limits.0, uplink.min(limits.1))));
        }
        let (_, rates) = known.iter().find(|(alike, _)| *alike == limits).expect("just added");
        best = shared(&best, rates);
    }
    uplink.min(best[PARTS])
}

/// `sums[t]` = max over k of `before[t - k] + rates[k]`.
fn shared(before: &[f64], rates: &[f64]) -> Vec<f64> {
    // Only parts at which the rate rises matter.
    let rises: Vec<usize> = (0..rates.len()).filter(|&k| k == 0 || rates[k] > rates[k - 1]).collect();
    let best = |t: usize| -> f64 {
        let useful = rises.iter().take_while(|&&k| k <= t);
        useful.map(|&k| before[t - k] + rates[k]).fold(0.0, f64::max)
    };
    (0..before.len()).map(best).collect()
}

/// Capacities with how many switches have them, the largest first.
struct Switches {
    capacities: Vec<(f64, f64)>,
    total: f64,
}

impl Switches {
    fn new(model: &Model<'_>) -> Self {
        let mut all: Vec<f64> = model.aggregators.iter().map(|&v| model.capacity_of(model.own(v))).collect();
        all.sort_by(|a, b| b.total_cmp(a));
        let runs = all.chunk_by(|a, b| a == b);
        Switches { capacities: runs.map(|run| (run[0], run.len() as f64)).collect(), total: all.iter().sum() }
    }
}

struct Needs<'s> {
    workers: f64,
    switches: &'s Switches,
}

impl Needs<'_> {
    /// T(F): returns the least capacity of switches with which every worker can send F to a server that
    /// receives up to `intake`; infinite if none is enough. Rises with F.
    fn capacity(&self, intake: f64, sending: f64) -> f64 {
        let received = whole(intake, sending);
        let mut excess = self.workers - received;
        if excess <= 0.0 {
            return 0.0;
        }
        let largest = self.switches.capacities.first().map_or(0.0, |&(c, _)| whole(c, sending));
        if received < (self.workers / largest.powi(2)).ceil() {
            return f64::INFINITY;
        }
        let mut needed = 0.0;
        for &(capacity, count) in &self.switches.capacities {
            let group = whole(capacity, sending);
            if group < 2.0 {
                break;
            }
            let used = (excess / (group - 1.0)).min(count);
            needed += used * group * sending;
            excess -= used * (group - 1.0);
            if excess <= 1e-9 {
                // As forgiving as `whole`, so that the bound stays one.
                return needed * (1.0 - 1e-9);
            }
        }
        f64::INFINITY
    }

    /// Returns by number of parts: a rate that the server cannot exceed with less than one part more.
    fn rates(&self, intake: f64, top: f64) -> Vec<f64> {
        // Between the rates at which some floor changes, T(F) is proportional to F.
        let limits = self.switches.capacities.iter().map(|&(c, _)| c).chain([intake]);
        let counts = 1..=self.workers as usize;
        let mut ends: Vec<f64> =
            limits.flat_map(|limit| counts.clone().map(move |n| limit / n as f64)).collect();
        let top = top.min(intake);
        ends.push(top);
        ends.retain(|&end| end <= top);
        ends.sort_by(f64::total_cmp);
        ends.dedup();
        let part = self.switches.total / PARTS as f64;
        let mut rates = Vec::with_capacity(PARTS + 1);
        let mut start = 0.0;
        for end in ends {
            let per_bit = self.capacity(intake, end) / end;
            while (rates.len() + 1) as f64 * part < per_bit * start && rates.len() <= PARTS {
                rates.push(start);
            }
            while (rates.len() + 1) as f64 * part < per_bit * end && rates.len() <= PARTS {
                rates.push((rates.len() + 1) as f64 * part / per_bit);
            }
            start = end;
        }
        rates.resize(PARTS + 1, start);
        rates
    }
}
