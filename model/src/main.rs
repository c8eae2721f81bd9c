//! `cargo run --release -p inart-model -- --workers 3 --switches 2`: explores the model and prints what holds.

use std::time::Instant;

use anyhow::{Result, bail};
use clap::Parser;
use inart_model::{Config, Invariant, explore};

/// Explores every reachable state of a small network and prints which invariants hold.
#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    config: Config,
    /// Threads.
    #[arg(long, default_value_t = std::thread::available_parallelism().map_or(1, usize::from))]
    threads: usize,
}

#[expect(clippy::print_stdout, reason = "what a command is for")]
fn main() -> Result<()> {
    let Arguments { config, threads } = Arguments::parse();
    config.validate()?;
    let start = Instant::now();
    let report = explore(config, threads);
    println!(
        "{} states, {} steps between them, at most {} from the beginning, {:.1} s",
        report.states,
        report.steps,
        report.depth,
        start.elapsed().as_secs_f64()
    );
    for (outcome, times) in report.outcomes.iter().filter(|(_, times)| *times > 0) {
        println!("  switch {outcome}: {times}");
    }
    for (verdict, times) in report.verdicts.iter().filter(|(_, times)| *times > 0) {
        println!("  server {verdict:?}: {times}");
    }
    for invariant in Invariant::ALL {
        let path = report.broken.get(&invariant);
        println!("{} {}", if path.is_some() { "BROKEN" } else { "holds " }, invariant.words());
        for (index, action) in path.into_iter().flatten().enumerate() {
            println!("  {index:2} {action:?}");
        }
    }
    if !report.broken.is_empty() {
        bail!("{} of the invariants are broken", report.broken.len());
    }
    Ok(())
}
