//! Times planning from scratch and planning again from a running plan after one link's capacity has changed,
//! on one thread: `cargo run -p inart-planner-aggregation --example replan [K ...]` (default: 6 and 16),
//! homogeneous fat-trees as in §5.3.

#![allow(clippy::print_stdout, clippy::expect_used, reason = "it prints a table")]
#![expect(clippy::disallowed_types, reason = "the planner has no clock, its callers may")]

use std::time::Instant;

use inart_planner_aggregation::{Options, Plan, check, plan, schemes};
use inart_topologies::switched::Topology;
use inart_topologies::switched::generate::{Equipment, fat_tree};

/// Number of changed links, and of runs of which the fastest counts; more where they take a millisecond.
const LINKS: usize = 8;
const RUNS: usize = 3;
const SHORT_RUNS: usize = 50;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut sizes: Vec<usize> = std::env::args().skip(1).map(|k| k.parse()).collect::<Result<_, _>>()?;
    if sizes.is_empty() {
        sizes = vec![6, 16];
    }
    println!(
        "  k  workers  new rate  cold ms  replan ms  ratio   proven  flows moved (mean over {LINKS} links)"
    );
    for k in sizes {
        let workers = if k == 6 { 50 } else { k * k * k / 4 - 4 };
        let equipment = Equipment {
            servers: 4,
            workers,
            rate_bps: 20e6,
            aggregation_bps: 9e6,
            ingress_bps: 20e6,
            delay_seconds: 0.0,
            gradient_bytes: 100_000_000,
            seed: 1,
        };
        let before = fat_tree(k, &equipment)?;
        let options = Options::new(schemes::OPTIMIZED);
        let running = plan(&before, &before.jobs()[0], &options)?;
        let again = Options { running: Some(&running), ..options };
        let runs = if k == 6 { SHORT_RUNS } else { RUNS };
        // The links that the plan uses most, but for the hosts' own.
        let busy = running.load.iter().filter_map(|load| load.resource.strip_prefix("link "));
        let fabric: Vec<&str> = busy.filter(|link| !link.contains(['w', 's'])).take(LINKS).collect();
        for rate_bps in [10e6, 5e6, 2e6] {
            let (mut cold, mut warm, mut proven, mut moved) = (0.0, 0.0, 0, 0);
            for link in &fabric {
                let after = &with_rate(&before, link, rate_bps)?;
                let (cold_ms, _) = best_of(runs, after, &options)?;
                let (warm_ms, plan) = best_of(runs, after, &again)?;
                check(after, &plan).map_err(|found| format!("{found:?}"))?;
                (cold, warm) = (cold + cold_ms, warm + warm_ms);
                proven += usize::from(plan.is_proven_optimal());
                moved += plan.moved.map_or(0, |moved| moved.flows);
            }
            let count = fabric.len();
            println!(
                "{k:>3}  {workers:>7}  {:>3} Mbps  {:>7.2}  {:>9.3}  {:>5.3}  {proven:>3}/{count}  {:.1}",
                rate_bps / 1e6,
                cold / count as f64,
                warm / count as f64,
                warm / cold,
                moved as f64 / count as f64
            );
        }
    }
    Ok(())
}

/// Returns the network with another rate on the link `a->b`.
fn with_rate(topology: &Topology, link: &str, rate_bps: f64) -> Result<Topology, Box<dyn std::error::Error>> {
    let ends: Vec<&str> = link.split("->").collect();
    let mut document: serde_json::Value = serde_json::from_str(&topology.to_json())?;
    for link in document["links"].as_array_mut().ok_or("a topology has links")? {
        if ends.iter().all(|end| link["ends"].as_array().is_some_and(|ends| ends.iter().any(|e| e == end))) {
            link["rate"] = format!("{rate_bps} bps").into();
        }
    }
    Ok(Topology::from_yaml(&document.to_string())?)
}

fn best_of(
    runs: usize,
    topology: &Topology,
    options: &Options<'_>,
) -> Result<(f64, Plan), Box<dyn std::error::Error>> {
    let mut best = f64::INFINITY;
    let mut made = None;
    for _ in 0..runs {
        // Not with the clock running.
        drop(made.take());
        let start = Instant::now();
        made = Some(plan(topology, &topology.jobs()[0], options)?);
        best = best.min(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok((best, made.ok_or("at least one run")?))
}
