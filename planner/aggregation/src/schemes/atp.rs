//! `atp` and `atp-unlimited`: aggregation at the worker's own switch only, equal shares, as ATP's authors
//! have it.

use std::collections::BTreeMap;

use super::lbmm;
use crate::finish;
use crate::model::{Model, NodeIx};
use crate::options::{Problem, Promises, Scheme, Shares};
use crate::passes;
use crate::placement::{Placement, equal_shares};
use crate::plan::{Limit, Plan};
use crate::plan_error::PlanError;
use crate::router::Router;
use crate::routes::FAR;

/// ATP within the switches' capacity, as on the InArt paper's testbed.
#[derive(Debug, Clone, Copy)]
pub struct Atp;

/// ATP with C(v) ignored, as in the InArt paper's figures of its emulation; its plans overload switches.
#[derive(Debug, Clone, Copy)]
pub struct AtpUnlimited;

impl Scheme for Atp {
    fn name(&self) -> &'static str {
        "atp"
    }

    fn summary(&self) -> &'static str {
        "ATP: aggregates at the worker's own rack switch, within the switch's capacity"
    }

    fn promises(&self) -> Promises {
        Promises { shares: Shares::Equal, stands_for: Some("ATP"), ..Promises::default() }
    }

    fn plan(&self, problem: &Problem<'_>) -> Result<Plan, PlanError> {
        finished(problem, false)
    }
}

impl Scheme for AtpUnlimited {
    fn name(&self) -> &'static str {
        "atp-unlimited"
    }

    fn summary(&self) -> &'static str {
        "ATP as in the InArt paper's emulation: its plans may exceed aggregation capacities"
    }

    fn promises(&self) -> Promises {
        Promises { ignores: &[Limit::Aggregation], ..Atp.promises() }
    }

    fn plan(&self, problem: &Problem<'_>) -> Result<Plan, PlanError> {
        finished(problem, true)
    }
}

fn finished(problem: &Problem<'_>, ignore_capacity: bool) -> Result<Plan, PlanError> {
    let Problem { router, options } = *problem;
    let bounds = problem.bounds();
    let shares = equal_shares(router.model.servers.len());
    let placement = passes::clear(router, place(router, ignore_capacity), &shares);
    Ok(finish::write(router.model, options, &placement, &shares, bounds))
}

/// ATP: a worker's gradient is aggregated at its access switch, if that has available capacity, else sent
/// directly.
///
/// Best effort: at a rate F per server, switch v takes floor(C(v) / F) flows. They are assigned to whole
/// groups first, to the server with the most direct flows first, and the rest is direct. All F at which some
/// switch takes one flow less are tried, and the best is kept. With `ignore_capacity` a switch takes all.
pub(crate) fn place(router: &Router<'_>, ignore_capacity: bool) -> Placement {
    let model = router.model;
    let racks = racks(model);
    if ignore_capacity {
        let ends = place_within(router, &racks, |_| usize::MAX);
        return router.place(&ends);
    }
    let shares = equal_shares(model.servers.len());
    let mut slots: Vec<f64> = Vec::new();
    for (&switch, members) in &racks {
        let flows = members.len() * model.servers.len();
        slots.extend((1..=flows).map(|n| model.capacity_of(model.own(switch)) / n as f64));
    }
    slots.sort_by(f64::total_cmp);
    slots.dedup_by(|a, b| (*a - *b).abs() <= 1e-9 * *b);
    let mut best = lbmm::place(router);
    let mut best_rate = best.counts(model).rate(model, &shares, |_| true);
    for sending in slots {
        let fits = |switch: NodeIx| (model.capacity_of(model.own(switch)) / sending * (1.0 + 1e-9)) as usize;
        let ends = place_within(router, &racks, fits);
        let placement = router.place(&ends);
        let rate = placement.counts(model).rate(model, &shares, |_| true);
        if rate > best_rate {
            (best, best_rate) = (placement, rate);
        }
    }
    best
}

/// Returns the workers by their aggregating access switch (the first, for a multi-homed worker).
fn racks(model: &Model<'_>) -> BTreeMap<NodeIx, Vec<usize>> {
    let mut racks: BTreeMap<NodeIx, Vec<usize>> = BTreeMap::new();
    for (w, &worker) in model.workers.iter().enumerate() {
        let switches = model.arcs_out(worker).iter().map(|&(_, next)| next);
        if let Some(switch) =
            switches.filter(|&v| model.capacity_of(model.own(v)) > 0.0 && model.forwards(v)).min()
        {
            racks.entry(switch).or_default().push(w);
        }
    }
    racks
}

fn place_within(
    router: &Router<'_>,
    racks: &BTreeMap<NodeIx, Vec<usize>>,
    fits: impl Fn(NodeIx) -> usize,
) -> Vec<Vec<NodeIx>> {
    let model = router.model;
    let mut ends: Vec<Vec<NodeIx>> = model.servers.iter().map(|&s| vec![s; model.workers.len()]).collect();
    // Units each server receives: direct flows, and one per group.
    let mut intake = vec![model.workers.len(); model.servers.len()];
    for (&switch, members) in racks {
        let mut left = fits(switch);
        // A worker on several switches may reach a server only from another of them.
        let ahead = |&s: &usize| router.routes.hops(switch, model.servers[s]) != FAR;
        let mut order: Vec<usize> = (0..model.servers.len()).filter(ahead).collect();
        order.sort_by_key(|&s| (std::cmp::Reverse(intake[s]), s));
        for s in order {
            let group = members.len().min(left);
            if group < 2 {
                continue;
            }
            members[..group].iter().for_each(|&w| ends[s][w] = switch);
            left -= group;
            intake[s] -= group - 1;
        }
    }
    ends
}
