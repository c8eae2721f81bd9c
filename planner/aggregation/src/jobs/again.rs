//! Replanning of running jobs on the current network: each from its active plan, next to the others.

use std::rc::Rc;

use super::bound::max_min;
use super::improve::improve;
use super::next_to::plan_next_to;
use super::set::{Laid, Network, Set, part_of_time};
use super::together::{bounded, construct, fairest, reaches};
use crate::bounds::closed_form;
use crate::check::{Sustainable, Violation, sustainable_next_to, sustainable_rate};
use crate::model::Model;
use crate::options::Options;
use crate::plan::{Bounds, Plan};
use crate::plan_error::PlanError;
use crate::racks;
use crate::schemes;
use crate::solve;
use inart_topologies::switched::{Job, Topology};

/// Number of passes over all jobs before full resources are examined.
const ROUNDS: usize = 2;

/// Plans running jobs again, each from its active plan ([`Options::running`] is ignored), and with its shares
/// if [`Options::keep_shares`]. Rates are max-min fair, as in [`super::Order::Together`], for the paths
/// found; each plan's `bounds.integral_bps` is its job's bound alone. [`Plan::solve_ms`] stays 0.
///
/// # Errors
///
/// As [`crate::plan()`], for the first job with an error; [`PlanError::Foreign`] for a plan of a job that the
/// topology does not have.
pub fn plan_again(
    topology: &Topology,
    running: &[Plan],
    options: &Options<'_>,
) -> Result<Vec<Plan>, PlanError> {
    let alone = |plan: &Plan| Plan { other_jobs: Vec::new(), ..plan.clone() };
    let running: Vec<Plan> = running.iter().map(alone).collect();
    let job = |plan: &Plan| {
        let foreign =
            || PlanError::Foreign { job: plan.job.clone(), what: "a job that the topology lacks".to_owned() };
        topology.job_named(&plan.job).ok_or_else(foreign)
    };
    let jobs: Vec<&Job> = running.iter().map(job).collect::<Result<_, _>>()?;
    if let ([running], [job]) = (&running[..], &jobs[..]) {
        return solve::plan(topology, job, &Options { running: Some(running), ..*options })
            .map(|plan| vec![plan]);
    }
    let network = Network { running: Some(&running), ..Network::new(topology, &jobs, options) };
    let models = jobs.iter().zip(&running).map(|(job, running)| {
        let options = Options { running: Some(running), ..*options };
        solve::with_shares(Model::new(topology, job, options.results), &options)
    });
    let models: Vec<Model<'_>> = models.collect::<Result<_, _>>()?;
    let most = models.iter().map(|model| closed_form(model, options.equal_shares).min(racks::egress(model)));
    let most: Vec<f64> = most.collect();
    let mut best = standing(&network, &most)?;
    if !reaches(&best, &most) {
        // Where two jobs would have to swap, no single job can improve.
        let fair = max_min(&models, &most, &Options { time_left: &|| 0.0, ..*options });
        best = construct(&network, &models, best, &fair);
    }
    let half = part_of_time(options.time_left, 2);
    for _ in 0..ROUNDS {
        let mut order: Vec<usize> = (0..jobs.len()).collect();
        order.sort_by(|&a, &b| best.rates[a].total_cmp(&best.rates[b]));
        for job in order {
            if half() <= 0.0 || reaches(&best, &most) {
                break;
            }
            let left = network.left_for(job, &best, &best.rates);
            let options = Options { time_left: &half, ..*options };
            // The others may use all capacity: then the active plan stays.
            let Ok(plan) = plan_next_to(&network, &options, job, left, f64::INFINITY) else { continue };
            let mut laid = best.laid.clone();
            laid[job] = network.laid(plan);
            best = fairest(best, network.side_by_side(laid, &most));
        }
    }
    best = improve(&network, best, &most);
    let bounds = most.iter().map(|&integral_bps| Bounds { lp_bps: None, integral_bps, two_levels_bps: None });
    let plans = network.write(&bounded(&network, best, bounds)).into_iter().zip(&running);
    Ok(plans.map(|(plan, running)| Plan { moved: Some(plan.moved_from(running)), ..plan }).collect())
}

/// Returns the active plans, replacing plans over missing parts by others, at a part of the rates of the
/// rest.
fn standing(network: &Network<'_>, most: &[f64]) -> Result<Set, PlanError> {
    let running = network.running.unwrap_or_default();
    let stands =
        |plan: &&Plan| sustainable_rate(network.topology, plan).is_ok_and(|left| left.rate_bps > 0.0);
    let mut laid: Vec<Option<Rc<Laid>>> =
        running.iter().map(|plan| Some(plan).filter(stands).map(|plan| network.laid(plan.clone()))).collect();
    let broken: Vec<usize> = (0..laid.len()).filter(|&job| laid[job].is_none()).collect();
    for job in broken {
        let others: Vec<Rc<Laid>> = laid.iter().flatten().cloned().collect();
        let set = network.side_by_side(others, most);
        let part = set.laid.len() as f64 / (set.laid.len() + 1) as f64;
        let rates: Vec<f64> = set.rates.iter().map(|rate| rate * part).collect();
        let left = network.left_for(usize::MAX, &set, &rates);
        laid[job] = Some(network.laid(plan_next_to(network, network.options, job, left, f64::INFINITY)?));
    }
    Ok(network.side_by_side(laid.into_iter().flatten().collect(), most))
}

/// Returns the rates that plans still have on `topology`, all sending, in the order of the plans: max-min
/// fair, independent of their stated rates; 0 for a plan that uses missing parts.
///
/// # Errors
/// A plan that is of another network, or of a job that it does not have.
pub fn sustainable_rates(topology: &Topology, plans: &[Plan]) -> Result<Vec<Sustainable>, Violation> {
    let mut alone: Vec<Sustainable> =
        plans.iter().map(|plan| sustainable_rate(topology, plan)).collect::<Result<_, _>>()?;
    let standing: Vec<usize> = (0..plans.len()).filter(|&job| alone[job].rate_bps > 0.0).collect();
    if standing.len() < 2 {
        return Ok(alone);
    }
    let jobs: Vec<&Job> = standing.iter().filter_map(|&job| topology.job_named(&plans[job].job)).collect();
    // Nothing is planned, so no scheme is used; plans that ignore a limit are filled up to it.
    let options = Options { equal_shares: true, ..Options::new(schemes::DEFAULT) };
    let network = Network::new(topology, &jobs, &options);
    let laid = standing.iter().map(|&job| network.laid(plans[job].clone())).collect();
    let rates = network.side_by_side(laid, &vec![f64::INFINITY; standing.len()]).rates;
    let sending: Vec<(usize, f64)> = standing.iter().copied().zip(rates).collect();
    for &(job, rate_bps) in &sending {
        let others = sending.iter().filter(|&&(other, _)| other != job);
        let others: Vec<(&Plan, f64)> = others.map(|&(other, rate)| (&plans[other], rate)).collect();
        let limit = sustainable_next_to(topology, &plans[job], &others)?.limit;
        alone[job] = Sustainable { rate_bps, limit };
    }
    Ok(alone)
}
