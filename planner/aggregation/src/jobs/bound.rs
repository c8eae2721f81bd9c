//! A proven bound on the rates of jobs planned together: the max-min fair point of a relaxation that all of
//! them share.
//!
//! Any plans give a point of the relaxation, and no point of a convex set is better than its max-min fair
//! point in the max-min sense, so no plans are. No job exceeds its own bound, and all share Eq. (5) on small
//! networks (`links`); on large ones Eq. (2), F and G as in `phase1`: sum over jobs of W F_s - (W - 1) G_s <=
//! B'(s) at every server, G_s <= F_s, sum of W G_s <= sum C(v), and the traffic of a worker for all its jobs
//! within its links; if results count, also the results it receives, and those each server sends.

use std::collections::BTreeMap;

use super::fair::{Program, Row};
use super::links;
use crate::model::{Model, NodeIx};
use crate::options::Options;

/// One rate per job, bit/s: no plans of these jobs are better in the max-min sense, given that no job alone
/// exceeds `most`.
pub(super) fn max_min(models: &[Model<'_>], most: &[f64], options: &Options<'_>) -> Vec<f64> {
    let equal = options.equal_shares;
    let whole = if options.out_of_time() { None } else { links::relaxation(models, most, options) };
    let program = whole.unwrap_or_else(|| without_links(models, most, equal));
    // If the solver fails, each job's own bound still holds.
    program.solve().map_or_else(|| most.to_vec(), |(rates, _)| rates)
}

fn without_links(models: &[Model<'_>], most: &[f64], equal: bool) -> Program {
    let mut program = Program { variables: 0, rates: Vec::new(), most: most.to_vec(), rows: Vec::new() };
    let mut intake: BTreeMap<NodeIx, Vec<(usize, f64)>> = BTreeMap::new();
    let mut sent: BTreeMap<NodeIx, Vec<(usize, f64)>> = BTreeMap::new();
    let mut added_up: Vec<(usize, f64)> = Vec::new();
    let mut leaving: BTreeMap<NodeIx, Vec<(usize, f64)>> = BTreeMap::new();
    let at_most = |terms, limit| Row { terms, limit, equal: false };
    for model in models {
        let workers = model.workers.len() as f64;
        let first = program.variables;
        let servers = model.servers.len();
        program.variables += 2 * servers;
        let sending = first..first + servers;
        for (f, &server) in sending.clone().zip(&model.servers) {
            let g = f + servers;
            leaving.entry(server).or_default().push((f, 1.0));
            intake.entry(server).or_default().extend([(f, workers), (g, 1.0 - workers)]);
            match model.aggregators.is_empty() {
                true => program.rows.push(at_most(vec![(g, 1.0)], 0.0)),
                false => program.rows.push(at_most(vec![(g, 1.0), (f, -1.0)], 0.0)),
            }
            added_up.push((g, workers));
            if equal && f > first {
                program.rows.push(Row { terms: vec![(f, 1.0), (first, -1.0)], limit: 0.0, equal: true });
            }
        }
        for &worker in &model.workers {
            sent.entry(worker).or_default().extend(sending.clone().map(|f| (f, 1.0)));
        }
        program.rates.push(sending.collect());
    }
    let any = &models[0];
    program.rows.extend(
        intake
            .into_iter()
            .map(|(server, terms)| at_most(terms, any.intake_bps(server)))
            .filter(|row| row.limit.is_finite()),
    );
    // A worker of one job is in that job's own bound.
    let shared = sent
        .into_iter()
        .filter(|(worker, _)| models.iter().filter(|model| model.workers.contains(worker)).count() > 1);
    let back = |worker: NodeIx| {
        if any.counts_results() { any.access_bps(worker, true) } else { f64::INFINITY }
    };
    let shared: Vec<Row> = shared
        .map(|(worker, terms)| at_most(terms, any.access_bps(worker, false).min(back(worker))))
        .collect();
    program.rows.extend(shared);
    // Results of all jobs leave a server over its links.
    let outlets = leaving.into_iter().map(|(server, terms)| at_most(terms, any.outlet_bps(server)));
    program.rows.extend(outlets.filter(|row| row.limit.is_finite()));
    let of_job = |model: &Model<'_>| model.aggregators.iter().map(|&v| model.capacity_of(model.own(v))).sum();
    let switches = models.iter().map(of_job).fold(0.0, f64::max);
    program.rows.push(at_most(added_up, switches));
    program
}
