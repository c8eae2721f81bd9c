//! Demand of a plan on every resource, as far as its structure is valid.

use std::collections::BTreeMap;

use super::network::{Network, Resource};
use super::violation::{Findings, Violation};
use super::{graph, loads, passes, results, shares, sums};
use crate::plan::Plan;
use inart_topologies::switched::Job;

/// Returns the demand of a plan on every resource per bit/s of its rate, as far as its structure is valid;
/// `findings` receives the violations.
pub(super) fn demand_of(
    network: &Network<'_>,
    plan: &Plan,
    findings: &mut Findings,
) -> Result<BTreeMap<Resource, f64>, Violation> {
    let topology = network.topology;
    if plan.topology != topology.name() {
        let what = format!("this plan is for topology \"{}\", not \"{}\"", plan.topology, topology.name());
        return Err(Violation::OtherTopology(what));
    }
    let Some(job) = topology.job_named(&plan.job) else {
        let what = format!("topology \"{}\" has no job \"{}\"", plan.topology, plan.job);
        return Err(Violation::OtherTopology(what));
    };
    levels(plan, findings);
    exactness(job, plan, findings);
    let shares = shares::of_plan(network, job, plan, findings);
    let mut shards = graph::shards(network, job, plan, &shares, findings);
    for shard in &mut shards {
        sums::walk(network, job, plan.levels, shard, findings);
        results::walk(network, job, plan, shard.server, findings);
    }
    results::strangers(network, job, plan, findings);
    // Only of flows and trunks that make sense.
    if findings.is_empty() {
        passes::ambiguous(plan).into_iter().for_each(|(place, problem)| findings.wrong(&place, problem));
    }
    Ok(loads::of_plan(network, plan, &shards))
}

/// Checks the number of aggregation levels, and the bound that depends on it.
fn levels(plan: &Plan, findings: &mut Findings) {
    if plan.levels < 1 {
        findings.wrong("levels", format!("{}, not 1 or more", plan.levels));
    }
    if (plan.levels > 1) != plan.bounds.two_levels_bps.is_some() {
        findings.wrong("bounds.two_levels_bps", "plans of two levels or more state it, others do not");
    }
}

/// A plan is exact if its job is.
fn exactness(job: &Job, plan: &Plan, findings: &mut Findings) {
    if plan.exact != job.exact {
        let is = |exact: bool| if exact { "exact" } else { "not exact" };
        findings.wrong("exact", format!("the plan is {}, its job is {}", is(plan.exact), is(job.exact)));
    }
}
