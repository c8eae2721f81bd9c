//! Conversion of a placement to a plan: its rate, its loads, and all names.

use std::collections::BTreeMap;

use crate::choices::Results;
use crate::model::{Model, NodeIx, Resource};
use crate::options::Options;
use crate::placement::{Placement, trunk_end, weighted};
use crate::plan::{Bounds, Factors, Flow, Limit, Plan, Shard, Trunk, Violations};
use crate::results;
use crate::routes::Path;

/// Writes the plan; `bounds` are stated as they are.
pub(crate) fn write(
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
    let ignores = options.scheme.promises().ignores;
    let counts_at_all = |resource| !ignores.contains(&Limit::Aggregation) || !is_aggregation(model, resource);
    let rate_bps = counts.rate(model, shares, counts_at_all);
    let mut load: Vec<_> = counts
        .used()
        .filter(|&(resource, _)| model.capacity_of(resource).is_finite())
        .map(|(resource, units)| model.load(resource, rate_bps * weighted(units, shares)))
        .filter(|load| load.used_bps > 0.0)
        .collect();
    load.sort_by(|a, b| (b.used_bps / b.capacity_bps).total_cmp(&(a.used_bps / a.capacity_bps)));
    let mut flows = Vec::with_capacity(model.servers.len() * model.workers.len());
    let mut trunks = Vec::with_capacity(placement.trunks.iter().map(BTreeMap::len).sum());
    for (s, &server) in model.servers.iter().enumerate() {
        let mut groups: BTreeMap<NodeIx, Vec<String>> = BTreeMap::new();
        for (flow, &worker) in placement.flows[s].iter().zip(&model.workers) {
            flows.push(Flow {
                worker: name(worker),
                server: name(server),
                aggregator: (flow.end != server).then(|| name(flow.end)),
                path: names(worker, &flow.path),
            });
            // Sum after sum, up to the server.
            let mut at = flow.end;
            while let Some(path) = placement.trunks[s].get(&at) {
                groups.entry(at).or_default().push(name(worker));
                at = trunk_end(model, path);
            }
        }
        for (&v, path) in &placement.trunks[s] {
            trunks.push(Trunk {
                aggregator: name(v),
                server: name(server),
                workers: groups.remove(&v).unwrap_or_default(),
                path: names(v, path),
            });
        }
    }
    Plan {
        scheme: options.scheme.name().to_owned(),
        seed: options.seed,
        topology: model.topology.name().to_owned(),
        job: model.job.name.clone(),
        levels: options.levels.number(),
        paths: Some(options.paths),
        exact: model.job.exact,
        ignores: ignores.to_vec(),
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
        results: match model.results {
            Results::Counted => model
                .servers
                .iter()
                .zip(&placement.results)
                .map(|(&server, tree)| results::write(model, server, tree))
                .collect(),
            Results::Ignored => results::shortest(model),
        },
        results_counted: model.results == Results::Counted,
        load,
        other_jobs: Vec::new(),
        solve_ms: 0.0,
        violation: None,
        moved: None,
    }
}

/// Returns by how much a rounded placement exceeds capacities at the LP's rate, and the published factors.
pub(crate) fn violations(
    model: &Model<'_>,
    placement: &Placement,
    shares: &[f64],
    at_bps: f64,
) -> Violations {
    let published = factors(model, shares, at_bps);
    let mut found = Violations { at_bps, switch: 0.0, server: 0.0, link: 0.0, published };
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

/// The InArt paper's approximation factors at a rate.
fn factors(model: &Model<'_>, shares: &[f64], at_bps: f64) -> Factors {
    let largest = at_bps * shares.iter().copied().fold(0.0, f64::max);
    let servers = model.servers.iter().map(|&s| model.own(s));
    let switches = model.aggregators.iter().map(|&v| model.own(v));
    let limits = (0..model.arcs() as Resource).chain(servers).chain(switches).map(|r| model.capacity_of(r));
    let phi = limits.filter(|&capacity| capacity > 0.0).fold(f64::INFINITY, f64::min) / largest;
    let factor = |count: usize| 2.0 * (count.max(1) as f64).ln() / phi + 2.0;
    Factors {
        phi,
        switch: factor(model.aggregators.len()),
        server: factor(model.servers.len()),
        link: factor(model.topology.links().len()),
    }
}

/// Returns whether a resource is a switch's aggregation capacity.
fn is_aggregation(model: &Model<'_>, resource: Resource) -> bool {
    resource as usize >= model.arcs() && model.forwards(resource - model.arcs() as u32)
}
