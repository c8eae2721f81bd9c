//! Tables on the terminal, and plans that are checked before their results are printed.

use std::time::Instant;

use anyhow::bail;
use inart_planner_aggregation::{Options, Plan, check};
use inart_topologies::switched::Topology;

/// Prints one line of right-aligned cells; the first is left-aligned.
#[expect(clippy::print_stdout, reason = "a command's result")]
pub fn line(widths: &[usize], cells: &[String]) {
    let mut cells = cells.iter().zip(widths);
    let mut text = cells.next().map_or(String::new(), |(cell, width)| format!("{cell:<width$}"));
    for (cell, width) in cells {
        text += &format!(" {cell:>width$}");
    }
    println!("{}", text.trim_end());
}

/// Prints a line of text.
#[expect(clippy::print_stdout, reason = "a command's result")]
pub fn say(text: &str) {
    println!("{text}");
}

/// Returns a plan of the network's first job that has passed the checker.
pub fn made(topology: &Topology, options: &Options<'_>) -> anyhow::Result<Plan> {
    let plan = inart_planner_aggregation::plan(topology, &topology.jobs()[0], options)?;
    if let Err(found) = check(topology, &plan) {
        bail!("{} on {}: {}", options.scheme, topology.name(), found[0]);
    }
    Ok(plan)
}

/// Returns the result of `work`, and the seconds of the quickest of `turns`.
pub fn timed<T>(turns: usize, work: impl Fn() -> anyhow::Result<T>) -> anyhow::Result<(T, f64)> {
    let mut best = f64::INFINITY;
    let mut last = None;
    for _ in 0..turns.max(1) {
        let start = Instant::now();
        last = Some(work()?);
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok((last.expect("at least one turn"), best))
}

/// Seconds as people read them.
pub fn seconds(value: f64) -> String {
    if value < 1.0 { format!("{:.1} ms", value * 1e3) } else { format!("{value:.2} s") }
}

/// bit/s as Mbps.
pub fn mbps(bps: f64) -> String {
    format!("{:.3}", bps / 1e6)
}
