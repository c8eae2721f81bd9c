//! From a job to a finished plan: dispatch to the scheme, normalise, rate, and name everything.

use crate::bounds;
use crate::fractional::{self, Fractional};
use crate::lp;
use crate::model::{Model, NodeIx, Resource};
use crate::options::{Options, PlanError, Scheme};
use crate::phase1;
use crate::placement::{Placement, equal_shares, weighted};
use crate::plan::{Bounds, Flow, Plan, Shard, Trunk, Violations};
use crate::racks;
use crate::router::Router;
use crate::routes::Path;
use crate::schemes::exact::{self, Answer, Effort};
use crate::schemes::inart::{self, Best};
use crate::schemes::{baselines, rounding};
use crate::topology::{Job, Topology};

/// Effort of the scheme exact, and of a proof for the scheme inart.
const EXACT: Effort = Effort { binaries: 3000, nodes: 200_000 };
const PROOF: Effort = Effort { binaries: 120, nodes: 2000 };
/// A better plan is looked for from this factor on; below it counts as the same rate.
const STEP: f64 = 1e-7;

/// Plans one job on one network.
pub fn plan(topology: &Topology, job: &Job, options: &Options<'_>) -> Result<Plan, PlanError> {
    let model = Model::new(topology, job);
    let mut router = Router::new(&model);
    feasible(&router)?;
    let relaxation = relax(&router, None)?;
    let integral_bps = bounds::closed_form(&model, options.equal_shares).min(relaxation.rate);
    let mut bounds = Bounds { lp_bps: Some(relaxation.rate), integral_bps };
    let mut violation = None;
    let equal = equal_shares(model.servers.len());
    let (placement, shares) = match options.scheme {
        Scheme::Lbmm => (baselines::lbmm(&mut router), equal),
        Scheme::Atp => (baselines::atp(&mut router, false), equal),
        Scheme::AtpNocap => (baselines::atp(&mut router, true), equal),
        Scheme::RInart | Scheme::Even => {
            let shares = phase1_shares(&model, options);
            let fractional = relax(&router, Some(&shares))?;
            let placement = rounding::with_seed(&router, &fractional, options.seed);
            violation = Some(violations(&model, &placement, &shares, fractional.rate));
            (placement, shares)
        }
        Scheme::Inart => {
            let fractional = relax(&router, Some(&phase1_shares(&model, options)))?;
            let starts = inart::starts(&router, options, &fractional, integral_bps);
            let best = match settle(&router, options, &starts[0], &mut bounds) {
                Some(best) => best,
                None => {
                    let goal = starts[0].rated.rate;
                    bounds.integral_bps = racks::bound(
                        &model,
                        options.equal_shares,
                        goal,
                        bounds.integral_bps,
                        options.out_of_time,
                    );
                    inart::improve(&router, options, starts, bounds.integral_bps)
                }
            };
            (best.placement, best.rated.shares)
        }
        Scheme::Exact => {
            let Answer::Best(placement) = exact::solve(&router, options.equal_shares, 0.0, EXACT) else {
                return Err(PlanError::TooLarge { job: job.name.clone() });
            };
            let rated = inart::rate(&router, &placement, options.equal_shares);
            bounds.integral_bps = bounds.integral_bps.min(rated.rate);
            (placement, rated.shares)
        }
    };
    Ok(Plan { violation, ..write(&model, options, &placement, &shares, bounds) })
}

/// Asks the integer program for the best plan, where that is quick.
fn settle(router: &Router<'_>, options: &Options<'_>, best: &Best, bounds: &mut Bounds) -> Option<Best> {
    let better = best.rated.rate * (1.0 + STEP);
    if better >= bounds.integral_bps || (options.out_of_time)() {
        return None;
    }
    let best = match exact::solve(router, options.equal_shares, best.rated.rate * (1.0 - 1e-4), PROOF) {
        Answer::Unknown => return None,
        Answer::None => best.clone(),
        Answer::Best(placement) => {
            let rated = inart::rate(router, &placement, options.equal_shares);
            // Rounding errors of the solver may cost a hair; the start is still there then.
            if rated.rate > best.rated.rate { Best::new(placement, rated) } else { best.clone() }
        }
    };
    bounds.integral_bps = best.rated.rate;
    Some(best)
}

/// By how much a rounded placement exceeds capacities at the LP's rate.
fn violations(model: &Model<'_>, placement: &Placement, shares: &[f64], at_bps: f64) -> Violations {
    let mut found = Violations { at_bps, switch: 0.0, server: 0.0, link: 0.0 };
    for (resource, units) in placement.counts(model).used() {
        let factor = at_bps * weighted(units, shares) / model.capacity_of(resource);
        let of_kind = if (resource as usize) < model.arcs() {
            &mut found.link
        } else if is_aggregation(model, resource) {
            &mut found.switch
        } else {
            &mut found.server
        };
        *of_kind = of_kind.max(factor);
    }
    found
}

/// x of phase 1, which R-InArt keeps fixed.
fn phase1_shares(model: &Model<'_>, options: &Options<'_>) -> Vec<f64> {
    if options.equal_shares || options.scheme == Scheme::Even {
        return equal_shares(model.servers.len());
    }
    let split = phase1::split(model, None);
    split.sending.iter().map(|f| f / split.rate).collect()
}

/// LP-InArt: the certified closed form where it applies, else the LP.
fn relax(router: &Router<'_>, fixed: Option<&[f64]>) -> Result<Fractional, PlanError> {
    let model = router.model;
    if let Some(solution) = fractional::certified(model, &router.routes, fixed) {
        return Ok(solution);
    }
    lp::solve(model, &router.routes, fixed)
        .map_err(|reason| PlanError::Solver { job: model.job.name.clone(), reason })
}

/// Every worker reaches every server, and every server can take something in.
fn feasible(router: &Router<'_>) -> Result<(), PlanError> {
    let model = router.model;
    let job = || model.job.name.clone();
    for &server in &model.servers {
        if model.intake_bps(server) <= 0.0 {
            return Err(PlanError::Exhausted {
                job: job(),
                resource: model.resource_name(model.own(server)),
            });
        }
        if let Some(&worker) = model.workers.iter().find(|&&worker| !router.reaches(worker, server, server)) {
            let (worker, server) = (model.name(worker).to_owned(), model.name(server).to_owned());
            return Err(PlanError::Unreachable { job: job(), worker, server });
        }
    }
    Ok(())
}

fn write(
    model: &Model<'_>,
    options: &Options<'_>,
    placement: &Placement,
    shares: &[f64],
    bounds: Bounds,
) -> Plan {
    let name = |node: NodeIx| model.name(node).to_owned();
    let names = |start: NodeIx, path: &Path| -> Vec<String> {
        std::iter::once(start).chain(path.iter().map(|&arc| model.head(arc))).map(name).collect()
    };
    let counts = placement.counts(model);
    let limits = |resource: Resource| options.scheme != Scheme::AtpNocap || !is_aggregation(model, resource);
    let rate_bps = counts.rate(model, shares, limits);
    let mut load: Vec<_> = counts
        .used()
        .filter(|&(resource, _)| model.capacity_of(resource).is_finite())
        .map(|(resource, units)| model.load(resource, rate_bps * weighted(units, shares)))
        .filter(|load| load.used_bps > 0.0)
        .collect();
    load.sort_by(|a, b| (b.used_bps / b.capacity_bps).total_cmp(&(a.used_bps / a.capacity_bps)));
    let mut flows = Vec::new();
    let mut trunks = Vec::new();
    for (s, &server) in model.servers.iter().enumerate() {
        for (flow, &worker) in placement.flows[s].iter().zip(&model.workers) {
            flows.push(Flow {
                worker: name(worker),
                server: name(server),
                aggregator: (flow.end != server).then(|| name(flow.end)),
                path: names(worker, &flow.path),
            });
        }
        for (&v, path) in &placement.trunks[s] {
            let group = placement.flows[s].iter().zip(&model.workers).filter(|(flow, _)| flow.end == v);
            trunks.push(Trunk {
                aggregator: name(v),
                server: name(server),
                workers: group.map(|(_, &worker)| name(worker)).collect(),
                path: names(v, path),
            });
        }
    }
    Plan {
        scheme: options.scheme.name().to_owned(),
        seed: options.seed,
        topology: model.topology.name().to_owned(),
        job: model.job.name.clone(),
        rate_bps,
        bounds,
        shards: model
            .servers
            .iter()
            .zip(shares)
            .map(|(&s, &share)| Shard { server: name(s), share })
            .collect(),
        flows,
        trunks,
        load,
        solve_ms: 0.0,
        violation: None,
    }
}

/// Whether a resource is a switch's aggregation capacity.
pub(crate) fn is_aggregation(model: &Model<'_>, resource: Resource) -> bool {
    resource as usize >= model.arcs() && model.forwards(resource - model.arcs() as u32)
}
