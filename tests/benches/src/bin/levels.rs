//! Gain of summing gradients at a second level: `cargo run -p inart-benches --bin levels -- TOPOLOGY…`
//! prints a row of the table in `docs/evidence/aggregation-depth.md` for every topology document.
#![allow(clippy::print_stdout, reason = "a benchmark prints")]

use std::time::Instant;

use anyhow::Context;
use inart_planner_aggregation::{Levels, Options, Plan, check, plan, schemes};
use inart_topologies::switched::Topology;

fn main() -> anyhow::Result<()> {
    println!("| network | one level | its bound | two levels | their bound | gain | second sums | s |");
    println!("|---|---|---|---|---|---|---|---|");
    for place in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&place).with_context(|| place.clone())?;
        let topology = Topology::from_yaml(&text).with_context(|| place.clone())?;
        let one = made(&topology, Levels::One)?;
        let start = Instant::now();
        let two = made(&topology, Levels::Two)?;
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "| {} | {} | {} | {} | {} | {:+.1} % | {} | {seconds:.1} |",
            topology.name(),
            mbps(one.rate_bps),
            mbps(one.bound_bps()),
            mbps(two.rate_bps),
            mbps(two.bound_bps()),
            100.0 * (two.rate_bps / one.rate_bps - 1.0),
            two.trunks.iter().filter(|trunk| trunk.path.last() != Some(&trunk.server)).count(),
        );
    }
    Ok(())
}

/// Returns the plan of the first job, checked.
fn made(topology: &Topology, levels: Levels) -> anyhow::Result<Plan> {
    let plan = plan(topology, &topology.jobs()[0], &Options { levels, ..Options::new(schemes::OPTIMIZED) })?;
    if let Err(violations) = check(topology, &plan) {
        anyhow::bail!("the plan does not hold: {}", violations[0]);
    }
    Ok(plan)
}

fn mbps(bps: f64) -> String {
    format!("{:.4}", bps / 1e6)
}
