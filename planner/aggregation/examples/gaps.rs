//! Gaps of plans to the optimum over random networks: pairs of jobs planned together
//! (docs/evidence/job-planning.md), and plans of two levels (docs/evidence/aggregation-depth.md). `cargo run
//! -p inart-planner-aggregation
//! --example gaps [NETWORKS]` (default: 55); equal numbers in every run.

#![allow(clippy::print_stdout, reason = "it prints a table")]

use inart_planner_aggregation::{Levels, Options, Order, check, check_jobs, plan, plan_jobs, schemes};
use inart_topologies::switched::generate::{Equipment, deal_jobs, random_regular};
use inart_topologies::switched::ranges::Ranges;
use inart_topologies::switched::{Job, Topology};

/// Further seeds and orders for planning a pair, to find a better plan than the first.
const SEEDS: u64 = 5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let networks = match std::env::args().nth(1) {
        Some(count) => count.parse()?,
        None => 55,
    };
    let (mut of_best, mut of_bound, mut two_levels) = (Vec::new(), Vec::new(), Vec::new());
    for seed in 0..networks {
        let topology = network(seed)?;
        let (found, best, bound) = pair(&topology)?;
        of_best.push(found / best);
        of_bound.push(bound / best);
        let alone = plan(&topology, &topology.jobs()[0], &two())?;
        check(&topology, &alone).map_err(|violations| violations[0].to_string())?;
        two_levels.push(alone.bound_bps() / alone.rate_bps);
    }
    println!("pairs of jobs, the smallest rate:");
    row("  planned once, of the best found", &of_best);
    row("  its bound, of the best found", &of_bound);
    row("two levels: the bound, of the rate found", &two_levels);
    Ok(())
}

fn two() -> Options<'static> {
    Options { levels: Levels::Two, ..Options::new(schemes::OPTIMIZED) }
}

fn row(what: &str, ratios: &[f64]) {
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let most = ratios.iter().copied().fold(0.0, f64::max);
    let apart = ratios.iter().filter(|&&ratio| (ratio - 1.0).abs() > 1e-6).count();
    println!("{what}: mean {mean:.3}, {least:.3} to {most:.3}, not 1 in {apart} of {}", ratios.len());
}

/// Four switches, each linked to three; two jobs of three workers and a server, all rates drawn.
fn network(seed: u64) -> Result<Topology, Box<dyn std::error::Error>> {
    let equipment = Equipment {
        servers: 2,
        workers: 6,
        rate_bps: 20e6,
        aggregation_bps: 9e6,
        ingress_bps: 10e6,
        delay_seconds: 0.0,
        gradient_bytes: 1,
        seed,
    };
    let ranges = Ranges {
        fabric: Some("2Mbps..12Mbps".parse()?),
        access: Some("4Mbps..20Mbps".parse()?),
        aggregation: Some("2Mbps..14Mbps".parse()?),
    };
    Ok(deal_jobs(&random_regular(4, 3, 2, &equipment)?.with_drawn_rates(&ranges, seed), 2, 3)?)
}

/// The smallest rate as planned, the best over some seeds and both orders of the jobs, and its bound.
fn pair(topology: &Topology) -> Result<(f64, f64, f64), Box<dyn std::error::Error>> {
    let jobs: Vec<&Job> = topology.jobs().iter().collect();
    let swapped: Vec<&Job> = jobs.iter().rev().copied().collect();
    let made = |jobs: &[&Job], seed| -> Result<(f64, f64), Box<dyn std::error::Error>> {
        let options = Options { seed, ..Options::new(schemes::OPTIMIZED) };
        let plans = plan_jobs(topology, jobs, &options, Order::Together)?;
        check_jobs(topology, &plans).map_err(|violations| violations[0].to_string())?;
        let bound = plans.max_min_bound_bps.iter().flatten().copied().fold(f64::INFINITY, f64::min);
        Ok((plans.min_rate_bps, bound))
    };
    let (found, bound) = made(&jobs, 1)?;
    let mut best = found;
    for seed in 1..=SEEDS {
        best = best.max(made(&jobs, seed)?.0).max(made(&swapped, seed)?.0);
    }
    Ok((found, best, bound))
}
