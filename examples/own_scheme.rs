//! A custom scheme: all gradients are aggregated at one switch, the one with the greatest capacity.
//!
//!     cargo run --example own_scheme
//!
//! A scheme declares the properties of its plans and drafts routes; rate, shares, loads and bounds follow
//! from them. Its plans are checked, written and installed like all others. To give it a name for commands,
//! add it to the list in `planner/aggregation/src/schemes/mod.rs`.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use inart_planner_aggregation::{
    Options, Plan, PlanError, Problem, Promises, Scheme, Shares, check, plan, schemes,
};
use inart_topologies::switched::{NodeKind, Topology};
use inart_topologies::units::display_rate;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Everything at one switch.
pub struct OneSwitch;

impl Scheme for OneSwitch {
    fn name(&self) -> &'static str {
        "one-switch"
    }

    fn summary(&self) -> &'static str {
        "adds up all gradients at the switch with the most aggregation"
    }

    fn promises(&self) -> Promises {
        // Shares as are best for the routes; for the rest, the modest default.
        Promises { shares: Shares::Free, ..Promises::default() }
    }

    fn plan(&self, problem: &Problem<'_>) -> std::result::Result<Plan, PlanError> {
        let (topology, job) = (problem.topology(), problem.job());
        let switches = topology.node_ids().filter(|&node| topology.node(node).kind == NodeKind::Switch);
        let able = switches.filter(|&switch| problem.node_bps(switch) > 0.0);
        let switch = able.max_by(|&a, &b| problem.node_bps(a).total_cmp(&problem.node_bps(b)));
        let mut draft = problem.draft();
        for &server in &job.servers {
            // If the switch is unreachable, or there is no switch, gradients go directly.
            let way = |from, to| problem.path(from, to, |_, _| 1.0);
            let onward = switch.and_then(|switch| Some((switch, way(switch, server)?)));
            let mut used = false;
            for &worker in &job.workers {
                let there = onward.as_ref().and_then(|(switch, _)| way(worker, *switch));
                used |= there.is_some();
                if let Some(path) = there.or_else(|| way(worker, server)) {
                    draft.flow(worker, server, path);
                }
            }
            if let Some((switch, path)) = onward.filter(|_| used) {
                draft.trunk(switch, server, path);
            }
        }
        draft.plan()
    }
}

fn main() -> Result<()> {
    for (scheme, plan) in run()? {
        let (rate, bound) = (display_rate(plan.rate_bps), display_rate(plan.bound_bps()));
        println!("{scheme}: {rate} per worker; no plan of this kind reaches more than {bound}");
    }
    Ok(())
}

/// Plans the network of the InArt paper's Fig. 1 with this scheme, and with the planner's own. Both plans
/// hold.
///
/// # Errors
/// A plan that cannot be made, or that does not hold.
pub fn run() -> Result<Vec<(&'static str, Plan)>> {
    let topology = Topology::from_yaml(include_str!("../topologies/fig1.yaml"))?;
    let mut plans = Vec::new();
    for scheme in [&OneSwitch, schemes::DEFAULT] {
        let plan = plan(&topology, &topology.jobs()[0], &Options::new(scheme))?;
        let read = Plan::from_json(&plan.to_json())?;
        check(&topology, &read).map_err(|violations| violations[0].to_string())?;
        plans.push((scheme.name(), read));
    }
    Ok(plans)
}
