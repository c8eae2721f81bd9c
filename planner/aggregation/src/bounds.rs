//! Proven upper bounds on the rate of every plan that aggregates each gradient at most once, unsplit.
//!
//! A server that receives n direct flows and partial sums needs F_s n <= B'(s), and a group of g workers at
//! switch v needs F_s g <= C(v). Both n and g are integers, which the LP does not model. If results count,
//! every worker receives f, and some link out of the server carries F_s.

use crate::bisect::bisect;
use crate::model::Model;
use crate::phase1;
use crate::plan::WORKERS_PER_SUM;

/// floor(a / b) that forgives rounding errors upwards, so that bounds stay bounds.
pub(crate) fn whole(a: f64, b: f64) -> f64 {
    (a / b * (1.0 + 1e-12) + 1e-12).floor()
}

/// The integral bound that needs no LP. `equal` bounds only plans with x_s = 1/S; so do shares to be kept.
pub(crate) fn closed_form(model: &Model<'_>, equal: bool) -> f64 {
    let uplink = model.min_uplink_bps();
    let even = crate::placement::equal_shares(model.servers.len());
    let fractional = phase1::split(model, equal.then_some(&even)).rate;
    let counted =
        if equal { equal_shares(model) } else { alone(model).iter().sum::<f64>().min(scarce(model)) };
    let kept = model.kept.as_deref().map_or(f64::INFINITY, |kept| phase1::split(model, Some(kept)).rate);
    uplink.min(fractional).min(counted).min(kept)
}

/// Returns the number of units that a group saves: it leaves its switch as one sum per 64 workers.
fn saved(group: f64) -> f64 {
    group - (group / WORKERS_PER_SUM as f64).ceil()
}

/// The switches' capacities, largest first.
fn switch_capacities(model: &Model<'_>) -> Vec<f64> {
    let mut all: Vec<f64> = model.aggregators.iter().map(|&v| model.capacity_of(model.own(v))).collect();
    all.sort_by(|a, b| b.total_cmp(a));
    all
}

/// Returns the fewest units (direct flows and partials) that a server can receive when every worker sends it
/// `sending` and no other server uses switches: a switch of capacity C turns floor(C / F) of them into one.
fn fewest_units(workers: usize, switches: &[f64], sending: f64) -> f64 {
    let mut units = workers as f64;
    let mut left = units;
    for &capacity in switches {
        let group = whole(capacity, sending).min(left);
        if group < 2.0 {
            break;
        }
        units -= saved(group);
        left -= group;
    }
    units
}

/// The most every worker could send to each server if that server had the network to itself.
pub(crate) fn alone(model: &Model<'_>) -> Vec<f64> {
    let switches = switch_capacities(model);
    let workers = model.workers.len();
    let most = |&server: &u32| {
        let intake = model.intake_bps(server).min(model.min_uplink_bps() * workers as f64);
        let most = intake.min(model.widest_outlet_bps(server));
        bisect_up(most, |f| f * fewest_units(workers, &switches, f) <= intake)
    };
    // Servers are often alike.
    let mut known: Vec<([f64; 2], f64)> = Vec::new();
    let of_server = |server: &u32| {
        let limits = [model.intake_bps(*server), model.widest_outlet_bps(*server)];
        if let Some(&(_, most)) = known.iter().find(|&&(alike, _)| alike == limits) {
            return most;
        }
        let most = most(server);
        known.push((limits, most));
        most
    };
    model.servers.iter().map(of_server).collect()
}

/// Switches shared by the servers: F_s (W + K_s) <= B'(s) + C K_s, where K_s counts the switches that s has,
/// in parts; sum K_s <= |V|. Concave in K, so an even marginal gain is best.
fn scarce(model: &Model<'_>) -> f64 {
    let workers = model.workers.len() as f64;
    let largest = switch_capacities(model).first().copied().unwrap_or(0.0);
    let intake: Vec<f64> = model.servers.iter().map(|&s| model.intake_bps(s)).collect();
    // K_s at which the marginal gain (C W - B) / (W + K)^2 has fallen to `price`.
    let held = |price: f64| -> Vec<f64> {
        let at = |b: &f64| (((largest * workers - b) / price).max(0.0).sqrt() - workers).max(0.0);
        intake.iter().map(at).collect()
    };
    let steepest = intake.iter().map(|b| (largest * workers - b) / workers.powi(2)).fold(0.0, f64::max);
    let switches = model.aggregators.len() as f64;
    if steepest <= 0.0 || intake.iter().any(|b| !b.is_finite()) {
        return f64::INFINITY;
    }
    // The total held falls as the price rises: the dearest price at which the switches would not suffice is
    // safe.
    let price = bisect(steepest, |price| held(price).iter().sum::<f64>() >= switches);
    let held = held(price.max(steepest * 1e-12));
    let rate = |(b, k): (&f64, &f64)| {
        if largest * workers > *b { (b + largest * k) / (workers + k) } else { b / workers }
    };
    intake.iter().zip(&held).map(rate).sum()
}

/// All servers at the same F: every server within its intake, and enough switches for all of them.
fn equal_shares(model: &Model<'_>) -> f64 {
    let switches = switch_capacities(model);
    let workers = model.workers.len();
    let intake: Vec<f64> = model.servers.iter().map(|&s| model.intake_bps(s)).collect();
    let top = alone(model).into_iter().fold(f64::INFINITY, f64::min);
    let enough = |f: f64| {
        let lacking: f64 = intake.iter().map(|&b| (workers as f64 - whole(b, f)).max(0.0)).sum();
        let most = (workers * intake.len()) as f64;
        let gains: f64 = switches.iter().map(|&c| saved(whole(c, f).min(most))).sum();
        lacking <= gains
    };
    bisect_up(top, enough) * intake.len() as f64
}

/// The smallest value found not to fit (or `high` itself if that fits): an upper bound on all that do.
pub(crate) fn bisect_up(high: f64, fits: impl Fn(f64) -> bool) -> f64 {
    if fits(high) {
        return high;
    }
    let (mut low, mut high) = (0.0, high);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        // Neighbors: no number lies between them.
        if middle <= low || middle >= high {
            break;
        }
        if fits(middle) { low = middle } else { high = middle }
    }
    high
}
