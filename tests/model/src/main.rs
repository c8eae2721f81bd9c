//! `cargo run --release -p inart-model -- --workers 3 --switches 2`: explores the model and prints the
//! invariants that hold.

use std::fmt::Write as _;
use std::io::{ErrorKind, Write as _};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::Parser;
use inart_model::{Config, Invariant, Report, explore};

/// Explores every reachable state of a small network and prints which invariants hold.
#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    config: Config,
    /// Threads.
    #[arg(long, default_value_t = std::thread::available_parallelism().map_or(1, usize::from))]
    threads: usize,
}

fn main() -> Result<()> {
    let Arguments { config, threads } = Arguments::parse();
    config.validate()?;
    let start = Instant::now();
    let report = explore(config, threads);
    match std::io::stdout().write_all(show(&report, start.elapsed())?.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => return Err(error.into()),
        _ => {}
    }
    if !report.broken.is_empty() {
        bail!("{} of the invariants are broken", report.broken.len());
    }
    Ok(())
}

fn show(report: &Report, time: Duration) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    let Report { states, steps, depth, .. } = report;
    let seconds = time.as_secs_f64();
    writeln!(
        text,
        "{states} states, {steps} steps between them, at most {depth} from the beginning, {seconds:.1} s"
    )?;
    for (outcome, times) in report.outcomes.iter().filter(|(_, times)| *times > 0) {
        writeln!(text, "  switch {outcome}: {times}")?;
    }
    for (verdict, times) in report.verdicts.iter().filter(|(_, times)| *times > 0) {
        writeln!(text, "  server {verdict:?}: {times}")?;
    }
    for invariant in Invariant::ALL {
        let path = report.broken.get(&invariant);
        writeln!(text, "{} {}", if path.is_some() { "BROKEN" } else { "holds " }, invariant.words())?;
        for (index, action) in path.into_iter().flatten().enumerate() {
            writeln!(text, "  {index:2} {action:?}")?;
        }
    }
    Ok(text)
}
