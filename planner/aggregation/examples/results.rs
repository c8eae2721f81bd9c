//! Cost of counting results: the rate of each network's plan with results ignored (as in the InArt paper) and
//! counted, its proven bound, and the planning time, on one thread: `cargo run --release -p
//! inart-planner-aggregation --example results -- topologies/*.yaml`

#![allow(clippy::print_stdout, clippy::expect_used, reason = "it prints a table")]
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "the planner has no clock and no files, its callers may"
)]

use std::time::Instant;

use inart_planner_aggregation::{Options, Plan, PlanError, Results, check, plan, schemes};
use inart_topologies::switched::Topology;
use inart_topologies::units::display_rate;

/// Number of runs, of which the fastest counts; a plan that takes longer than `LONG_MS` is made once.
const RUNS: usize = 20;
const LONG_MS: f64 = 200.0;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!(
        "| network | ignored | counted | cost | proven bound | bound / rate | ms, ignored | ms, counted |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for path in std::env::args().skip(1) {
        let topology = Topology::from_yaml(&std::fs::read_to_string(&path)?)?;
        let name = topology.name();
        let (before, before_ms) = timed(&topology, Results::Ignored)?;
        match timed(&topology, Results::Counted) {
            Ok((after, ms)) => {
                check(&topology, &after).map_err(|found| format!("{path}: {}", found[0]))?;
                let (ignored, counted, bound) = (before.rate_bps, after.rate_bps, after.bound_bps());
                println!(
                    "| {name} | {} | {} | {:.1} % | {} | {:.3} | {before_ms:.2} | {ms:.2} |",
                    display_rate(ignored),
                    display_rate(counted),
                    (100.0 * (1.0 - counted / ignored)).abs(),
                    display_rate(bound),
                    bound / counted,
                );
            }
            Err(error) => println!("| {name} | {} | {error} |", display_rate(before.rate_bps)),
        }
    }
    Ok(())
}

/// The plan, and how long it took, in milliseconds.
fn timed(topology: &Topology, results: Results) -> Result<(Plan, f64), PlanError> {
    let options = Options { results, ..Options::new(schemes::OPTIMIZED) };
    let mut best = f64::INFINITY;
    let mut made = None;
    for _ in 0..RUNS {
        // Not with the clock running.
        drop(made.take());
        let start = Instant::now();
        made = Some(plan(topology, &topology.jobs()[0], &options)?);
        best = best.min(start.elapsed().as_secs_f64() * 1e3);
        if best > LONG_MS {
            break;
        }
    }
    Ok((made.expect("at least one run"), best))
}
