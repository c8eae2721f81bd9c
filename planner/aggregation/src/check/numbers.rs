//! Comparison of a plan's numbers with those that follow from its graph.

use std::collections::{BTreeMap, HashMap};

use super::network::{Network, Resource};
use super::tolerance::{TOLERANCE, near};
use super::violation::{Findings, Violation};
use crate::plan::Plan;

/// Capacities at the plan's rate, the rate itself, the loads it lists, and its bounds.
pub(super) fn compare(
    network: &Network<'_>,
    plan: &Plan,
    demand: &BTreeMap<Resource, f64>,
    findings: &mut Findings,
) {
    let rate = plan.rate_bps;
    if !(rate.is_finite() && rate > 0.0) {
        return findings.wrong("rate_bps", format!("it is {rate}, not a positive number"));
    }
    let mut taken = taken(plan, findings);
    let mut attainable = f64::INFINITY;
    let mut loads: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for (&resource, &per_bit) in demand {
        let Some(capacity_bps) = network.capacity(resource) else { continue };
        let (name, used_bps) = (network.resource_name(resource), rate * per_bit);
        let capacity_bps = (capacity_bps - taken.remove(&name).unwrap_or(0.0)).max(0.0);
        if !network.ignores(plan, resource) {
            attainable = attainable.min(capacity_bps / per_bit);
            if used_bps > capacity_bps * (1.0 + TOLERANCE) {
                let (resource, jobs) = (name.clone(), Vec::new());
                findings.push(Violation::Overload { resource, used_bps, capacity_bps, jobs });
            }
        }
        loads.insert(name, (used_bps, capacity_bps));
    }
    for resource in taken.into_keys() {
        findings.wrong(&format!("other_jobs: {resource}"), "the plan does not use it");
    }
    number("rate_bps", rate, attainable, findings);
    stated_loads(plan, loads, findings);
    bounds(plan, findings);
}

/// Checks that every load is stated (or none, as in plans written by hand), and right.
fn stated_loads(plan: &Plan, loads: BTreeMap<String, (f64, f64)>, findings: &mut Findings) {
    let mut left = loads.clone();
    for load in &plan.load {
        if left.remove(&load.resource).is_none() && loads.contains_key(&load.resource) {
            findings.wrong(&format!("load of {}", load.resource), "listed twice");
        }
        match loads.get(&load.resource) {
            None => findings.wrong(&format!("load of {}", load.resource), "the plan does not use it"),
            Some(&(used, capacity)) => {
                number(&format!("load of {}", load.resource), load.used_bps, used, findings);
                number(&format!("capacity of {}", load.resource), load.capacity_bps, capacity, findings);
            }
        }
    }
    for resource in left.into_keys().filter(|_| !plan.load.is_empty()) {
        findings.wrong(&format!("load of {resource}"), "missing, though the plan uses it");
    }
}

fn bounds(plan: &Plan, findings: &mut Findings) {
    let rate = plan.rate_bps;
    let bound = plan.bounds.integral_bps;
    let (place, own) = match plan.bounds.two_levels_bps {
        Some(two_levels) => ("bounds.two_levels_bps", two_levels),
        None => ("bounds.integral_bps", bound),
    };
    let claims_feasible = plan.ignores.is_empty();
    if !(own.is_finite() && bound.is_finite()) || (claims_feasible && rate > own * (1.0 + TOLERANCE)) {
        findings.wrong(place, format!("{own} is not a bound on the plan's own rate {rate}"));
    }
    if bound > own * (1.0 + TOLERANCE) {
        findings.wrong("bounds", format!("the bound {bound} for one level is above {own} for two"));
    }
    if let Some(lp) = plan.bounds.lp_bps
        && (!lp.is_finite() || bound > lp * (1.0 + TOLERANCE))
    {
        findings.wrong("bounds", format!("the integral bound {bound} is above the LP's {lp}"));
    }
}

/// Returns the use of resources by other jobs that the plan states.
fn taken(plan: &Plan, findings: &mut Findings) -> HashMap<String, f64> {
    let mut taken = HashMap::new();
    for other in &plan.other_jobs {
        let place = format!("other_jobs: {}", other.resource);
        if !(other.used_bps.is_finite() && other.used_bps >= 0.0) {
            findings.wrong(&place, format!("{} is not a rate", other.used_bps));
        } else if taken.insert(other.resource.clone(), other.used_bps).is_some() {
            findings.wrong(&place, "listed twice");
        }
    }
    taken
}

fn number(what: &str, stated: f64, found: f64, findings: &mut Findings) {
    if !near(stated, found) {
        findings.push(Violation::WrongNumber { what: what.to_owned(), stated, found });
    }
}
