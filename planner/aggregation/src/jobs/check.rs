//! Checks plans of several jobs against their topology, from their text alone: each plan by
//! [`crate::check()`], then all loads together. Independent of how they were made.

use std::collections::{BTreeMap, BTreeSet};

use super::plans::JobPlans;
use crate::check::{TOLERANCE, Use, Violation, examine};
use crate::plan::Plan;
use inart_topologies::switched::Topology;

/// Verifies every plan of a document, its statements on the others' use, that no capacity is exceeded by all
/// of them together, and the document's own numbers.
///
/// # Errors
///
/// All violations, each with its location.
pub fn check_jobs(topology: &Topology, document: &JobPlans) -> Result<(), Vec<Violation>> {
    if document.topology != topology.name() {
        let what =
            format!("these plans are for topology \"{}\", not \"{}\"", document.topology, topology.name());
        return Err(vec![Violation::OtherTopology(what)]);
    }
    let mut found: Vec<Violation> = Vec::new();
    let mut wrong = |problem: String| {
        found.push(Violation::Malformed { place: "plans".to_owned(), problem });
    };
    if document.plans.is_empty() {
        wrong("the list is empty".to_owned());
    }
    let mut jobs = BTreeSet::new();
    for plan in document.plans.iter().filter(|plan| !jobs.insert(&plan.job)) {
        wrong(format!("job {} is listed twice", plan.job));
    }
    let mut uses: Vec<(&Plan, Vec<Use>)> = Vec::new();
    for plan in &document.plans {
        match examine(topology, plan) {
            Ok(of_plan) => uses.push((plan, of_plan)),
            Err(violations) => found.extend(violations.into_iter().map(|violation| match violation {
                Violation::OtherTopology(_) => violation,
                _ => Violation::Job { job: plan.job.clone(), violation: Box::new(violation) },
            })),
        }
    }
    // Sums are meaningless while a plan is invalid.
    if found.is_empty() {
        loads(&uses, &mut found);
        numbers(document, &mut found);
    }
    if found.is_empty() { Ok(()) } else { Err(found) }
}

/// Checks all loads together, and each plan's statement on the others.
fn loads(uses: &[(&Plan, Vec<Use>)], found: &mut Vec<Violation>) {
    let mut total: BTreeMap<&str, f64> = BTreeMap::new();
    let mut limits: BTreeMap<&str, f64> = BTreeMap::new();
    for use_ in uses.iter().flat_map(|(_, uses)| uses) {
        *total.entry(&use_.resource).or_default() += use_.used_bps;
        if !use_.ignored {
            limits.insert(&use_.resource, use_.capacity_bps);
        }
    }
    for (resource, capacity_bps) in limits {
        let used_bps = total[resource];
        if used_bps > capacity_bps * (1.0 + TOLERANCE) {
            let sharing = uses.iter().filter(|(_, uses)| uses.iter().any(|use_| use_.resource == resource));
            let jobs = sharing.map(|(plan, _)| plan.job.clone()).collect();
            found.push(Violation::Overload { resource: resource.to_owned(), used_bps, capacity_bps, jobs });
        }
    }
    for (plan, uses) in uses {
        let stated: BTreeMap<&str, f64> =
            plan.other_jobs.iter().map(|taken| (taken.resource.as_str(), taken.used_bps)).collect();
        for use_ in uses {
            let resource = use_.resource.as_str();
            let stated = stated.get(resource).copied().unwrap_or(0.0);
            let others = total[resource] - use_.used_bps;
            // Compared relative to the sum, whose rounding error is in the difference.
            if (stated - others).abs() > TOLERANCE * total[resource] {
                let what = format!("job {}: other jobs' use of {resource}", plan.job);
                found.push(Violation::WrongNumber { what, stated, found: others });
            }
        }
    }
}

/// The smallest rate, and the bound.
fn numbers(document: &JobPlans, found: &mut Vec<Violation>) {
    let upwards = |mut rates: Vec<f64>| {
        rates.sort_by(f64::total_cmp);
        rates
    };
    let rates = upwards(document.plans.iter().map(|plan| plan.rate_bps).collect());
    let (stated, least) = (document.min_rate_bps, rates[0]);
    if (stated - least).abs() > TOLERANCE * least || stated.is_nan() {
        found.push(Violation::WrongNumber { what: "min_rate_bps".to_owned(), stated, found: least });
    }
    let Some(bounds) = &document.max_min_bound_bps else { return };
    let mut wrong = |problem: &str| {
        let (place, problem) = ("max_min_bound_bps".to_owned(), problem.to_owned());
        found.push(Violation::Malformed { place, problem });
    };
    if bounds.len() != rates.len() || !bounds.iter().all(|bound| bound.is_finite()) {
        return wrong("not one rate per plan");
    }
    let bounds = upwards(bounds.clone());
    let first_apart =
        rates.iter().zip(bounds).find(|(rate, bound)| (*rate - bound).abs() > TOLERANCE * bound);
    let claims_feasible = document.plans.iter().all(|plan| plan.ignores.is_empty());
    if claims_feasible && first_apart.is_some_and(|(rate, bound)| *rate > bound) {
        wrong("no bound on the plans' own rates");
    }
}
