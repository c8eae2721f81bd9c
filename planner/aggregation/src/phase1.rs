//! Phase 1, L-InArt (Eq. (2)), in closed form.
//!
//! With F_s = f x_s and G_s the rate per worker of shard s that is aggregated anywhere, averaging over the W
//! workers turns Eq. (2) into: max sum F_s subject to W F_s - (W - 1) G_s <= B'(s), 0 <= G_s <= F_s, W sum
//! G_s <= sum C(v). Its optimum is f1 = min{ sum B', (sum B' + (W - 1) sum C / W) / W }, and its optimal
//! splits are a whole polytope: every 0 <= G_s <= B'(s) with sum G_s = min(sum C / W, sum B') gives one. So
//! the KKT system of the InArt paper's Eq. (3)-(4) cannot determine x (it is also bilinear, and its Gaussian
//! elimination has no unique result). x_s proportional to B'(s) always lies in the polytope, and is our
//! start: the choice of x matters only after rounding, and uneven ones round far worse.
//!
//! If results count, F_s is also at most the server's output rate O_s. Up to B'(s) / W a rate needs no
//! switch, then (W - 1) / W of it, so f1 = sum min(O_s, B'(s) / W) + (W - 1) / W^2 sum C, with no F_s above
//! min(O_s, B'(s)); proportional to B'(s) as far as O_s allows.

use crate::bisect::bisect;
use crate::model::Model;
use crate::placement::equal_shares;

/// An optimal split of the fabric-free relaxation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Split {
    /// sum of F_s, bit/s: an upper bound on every plan's rate.
    pub rate: f64,
    /// F_s, bit/s.
    pub sending: Vec<f64>,
    /// G_s, bit/s per worker.
    pub aggregated: Vec<f64>,
}

/// The closed form, with the workers' uplinks as a further limit; at x proportional to B'(s) unless x is
/// fixed.
pub(crate) fn split(model: &Model<'_>, fixed: Option<&[f64]>) -> Split {
    let workers = model.workers.len() as f64;
    let intake: Vec<f64> = model.servers.iter().map(|&s| model.intake_bps(s)).collect();
    let switches: f64 = model.aggregators.iter().map(|&v| model.capacity_of(model.own(v))).sum();
    let uplink = model.min_uplink_bps();
    let outlets: Vec<f64> = model.servers.iter().map(|&s| model.outlet_bps(s)).collect();
    let total: f64 = intake.iter().sum();
    let closed = total.min((total + (workers - 1.0) * switches / workers) / workers).min(uplink);
    let narrow = || narrowed(&intake, &outlets, (workers, switches), closed);
    let narrow = if fixed.is_none() { narrow() } else { None };
    let shares: Vec<f64> = match fixed.or(narrow.as_deref()) {
        Some(shares) => shares.to_vec(),
        None if total.is_finite() => intake.iter().map(|b| b / total).collect(),
        None => equal_shares(intake.len()),
    };
    // G_s needed at rate f: the part that the server cannot receive directly.
    let needed = |f: f64| -> Vec<f64> {
        let lack = |(x, b): (&f64, &f64)| ((workers * f * x - b) / (workers - 1.0)).max(0.0);
        if workers < 2.0 { vec![0.0; shares.len()] } else { shares.iter().zip(&intake).map(lack).collect() }
    };
    let fits = |f: f64| {
        workers * needed(f).iter().sum::<f64>() <= switches * (1.0 + 1e-12)
            && shares.iter().zip(&intake).all(|(x, b)| f * x <= b * (1.0 + 1e-12))
            && shares.iter().zip(&outlets).all(|(x, o)| f * x <= o * (1.0 + 1e-12))
    };
    // For x proportional to B' the closed form holds; for given x the need is convex and grows with f:
    // bisect.
    let rate = if fits(closed) { closed } else { bisect(closed, fits) };
    Split { rate, sending: shares.iter().map(|x| x * rate).collect(), aggregated: needed(rate) }
}

/// Returns the shares of an optimal split if some outlet limits x proportional to B'; `None` if no outlet
/// does.
fn narrowed(intake: &[f64], outlets: &[f64], (workers, switches): (f64, f64), most: f64) -> Option<Vec<f64>> {
    let total: f64 = intake.iter().sum();
    if !intake.iter().zip(outlets).any(|(b, o)| most * b / total > *o) {
        return None;
    }
    let limits: Vec<f64> = intake.iter().zip(outlets).map(|(b, o)| b.min(*o)).collect();
    let unaided: f64 = limits.iter().zip(intake).map(|(limit, b)| limit.min(b / workers)).sum();
    let aided = (workers - 1.0) / workers.powi(2) * switches;
    let rate = (unaided + aided).min(limits.iter().sum()).min(most);
    // F_s = min(limit, level B'(s)), at the level at which they sum to the rate.
    let at = |level: f64| limits.iter().zip(intake).map(move |(limit, b)| limit.min(level * b));
    let level = bisect(1.0, |level| at(level).sum::<f64>() <= rate);
    let sum: f64 = at(level).sum();
    Some(at(level).map(|f| f / sum).collect())
}

/// Returns x_s of the closed form, which R-InArt keeps fixed; 1/S if shares are to be `equal`.
pub(crate) fn shares(model: &Model<'_>, equal: bool) -> Vec<f64> {
    if equal {
        return equal_shares(model.servers.len());
    }
    let split = split(model, None);
    split.sending.iter().map(|f| f / split.rate).collect()
}
