//! Checks a plan against its topology from the plan's text alone. Shares no code with the schemes: it knows
//! the topology, the plan, and what a sum is.
//!
//! For each shard the text is a graph: workers send, switches make sums of what ends at them, the server ends
//! it; and back from the server results go over a tree with copies at its branches. `graph` reads it, `sums`
//! and `results` walk it, to any depth, `loads` counts what it puts on every resource, `numbers` compares
//! that with what the plan states.

mod attainable;
mod graph;
mod loads;
mod network;
mod numbers;
mod passes;
mod results;
mod shares;
mod sums;
mod tolerance;
mod violation;

use std::collections::BTreeMap;

use crate::plan::Plan;
use crate::topology::{Job, Topology};
pub(crate) use attainable::sustainable_beside;
pub use attainable::{Sustainable, sustainable_rate};
use network::{Network, Resource};
pub(crate) use tolerance::TOLERANCE;
use violation::Findings;
pub use violation::Violation;

/// Verifies every constraint, path, sum, tree of results, share, load and the rate of a plan.
///
/// What the plan says that it ignores ([`Plan::ignores`]) is not held against it.
///
/// # Errors
/// All that is wrong, the structure before the numbers: those mean nothing while it is.
pub fn check(topology: &Topology, plan: &Plan) -> Result<(), Vec<Violation>> {
    examine(topology, plan).map(drop)
}

/// What a valid plan uses of a resource that has a limit.
pub(crate) struct Use {
    pub resource: String,
    /// At the plan's rate.
    pub used_bps: f64,
    /// What there is, background taken off, for this plan and all others.
    pub capacity_bps: f64,
    /// Whether the plan ignores the limit.
    pub ignored: bool,
}

/// Like [`check`]; says what the plan uses.
pub(crate) fn examine(topology: &Topology, plan: &Plan) -> Result<Vec<Use>, Vec<Violation>> {
    let network = Network::new(topology);
    let mut findings = Findings::default();
    let demand = demand_of(&network, plan, &mut findings).map_err(|other| vec![other])?;
    if !findings.is_empty() {
        return Err(findings.all());
    }
    numbers::compare(&network, plan, &demand, &mut findings);
    if !findings.is_empty() {
        return Err(findings.all());
    }
    let uses = demand.iter().filter_map(|(&resource, per_bit)| {
        Some(Use {
            resource: network.resource_name(resource),
            used_bps: per_bit * plan.rate_bps,
            capacity_bps: network.capacity(resource)?,
            ignored: network.ignores(plan, resource),
        })
    });
    Ok(uses.collect())
}

/// What a plan puts on every resource per bit/s of its rate, as far as its structure is sound: `findings` has
/// what is not.
fn demand_of(
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

/// How often it may add up, and the bound that goes with it.
fn levels(plan: &Plan, findings: &mut Findings) {
    if plan.levels < 1 {
        findings.wrong("levels", format!("{}, not 1 or more", plan.levels));
    }
    if (plan.levels > 1) != plan.bounds.two_levels_bps.is_some() {
        findings.wrong("bounds.two_levels_bps", "plans of two levels or more state it, others do not");
    }
}

/// A plan is exact if its job is, and then no switch adds anything.
fn exactness(job: &Job, plan: &Plan, findings: &mut Findings) {
    if plan.exact != job.exact {
        let is = |exact: bool| if exact { "exact" } else { "not exact" };
        findings.wrong("exact", format!("the plan is {}, its job is {}", is(plan.exact), is(job.exact)));
    }
    if !job.exact {
        return;
    }
    for flow in plan.flows.iter().filter(|flow| flow.aggregator.is_some()) {
        let place = format!("flow {} to {}", flow.worker, flow.server);
        findings
            .wrong(&place, "a switch adds it up, in an exact job, whose sums are made at the servers only");
    }
    for trunk in &plan.trunks {
        findings.wrong(&graph::trunk_place(trunk), "an exact job has no sums in switches");
    }
}
