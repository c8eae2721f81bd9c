//! `inart simulate --soak`: random trials, as many at a time as there are processors.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use inart_simulator::campaign::Trial;
use inart_simulator::{Dataplane, Error, Report, Tally};
use inart_wire::ValuesPerPacket;
use indicatif::{ProgressBar, ProgressStyle};

use crate::commands::output::print;

/// Trials that a thread runs before all threads compare notes.
const BATCH: u64 = 16;

/// Runs trials with seeds from `first` on; the first that fails ends the run with status 1.
pub fn run(first: u64, trials: u64, json: bool) -> anyhow::Result<ExitCode> {
    let dataplane = Arc::new(Dataplane::new(ValuesPerPacket::N32)?);
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let bar = progress_bar(trials);
    let start = Instant::now();
    let (mut done, mut refused, mut sums, mut hops, mut tally) = (0, 0u64, 0, 0, Tally::default());
    let mut failed = None;
    while done < trials && failed.is_none() {
        let seeds = |thread| {
            let from = done + thread * BATCH;
            (from..trials.min(from + BATCH)).map(|trial| first.wrapping_add(trial))
        };
        let dataplane = &dataplane;
        let reports: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..threads)
                .map(|thread| {
                    scope.spawn(move || {
                        seeds(thread).map(|seed| (seed, outcome(seed, dataplane))).collect::<Vec<_>>()
                    })
                })
                .collect();
            threads
                .into_iter()
                .flat_map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        });
        for (seed, report) in reports {
            done += 1;
            let report = match report {
                // Two ways of a flow that a switch could not tell apart: no run, and nothing wrong.
                Err(Error::Install(_)) => {
                    refused += 1;
                    continue;
                }
                report => report.with_context(|| format!("seed {seed}"))?,
            };
            tally.add(&report.tally);
            sums += report.sums_checked;
            hops += report.packet_hops;
            if let Some(failure) = report.failure {
                failed = Some((seed, failure));
                break;
            }
        }
        bar.set_position(done);
    }
    bar.finish_and_clear();
    let per_second = done as f64 / start.elapsed().as_secs_f64().max(1e-9);
    let replay = failed.as_ref().map(|(seed, _)| replay(*seed, &dataplane)).transpose()?;
    if json {
        let document = serde_json::json!({
            "trials": done,
            "first": first,
            "plans_refused": refused,
            "seeds_per_second": per_second,
            "packet_hops": hops,
            "sums_checked": sums,
            "faults": tally.by_name(),
            "failed": failed.as_ref().map(|(seed, failure)| serde_json::json!({
                "seed": seed, "failure": failure, "replay": replay,
            })),
        });
        print(&format!("{}\n", serde_json::to_string_pretty(&document)?))?;
    } else {
        let refused = match refused {
            0 => String::new(),
            count => format!("{count} plans that the controller refuses were not run\n"),
        };
        let faults: Vec<_> =
            tally.by_name().iter().map(|(what, count)| format!("  {what}: {count}\n")).collect();
        print(&format!(
            "{done} trials from seed {first} on, {per_second:.0} seeds/s; {hops} packet-hops, {sums} sums compared bit for bit\n{refused}{}",
            faults.concat()
        ))?;
    }
    Ok(match (failed, replay) {
        (Some((seed, failure)), Some(replay)) => {
            eprintln!("error: seed {seed}: {failure}; the least that fails: {replay}");
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    })
}

fn outcome(seed: u64, dataplane: &Arc<Dataplane>) -> Result<Report, Error> {
    Trial::of_seed(seed).run(dataplane)
}

/// Writes the least that fails into files; the command that runs it.
fn replay(seed: u64, dataplane: &Arc<Dataplane>) -> anyhow::Result<String> {
    let trial = Trial::of_seed(seed).shrink(dataplane);
    let folder = Path::new("out").join(format!("soak-{seed}"));
    let place = || folder.display().to_string();
    std::fs::create_dir_all(&folder).with_context(place)?;
    let [topology, faults] = ["topology.yaml", "faults.yaml"].map(|name| folder.join(name));
    std::fs::write(&topology, trial.topology.to_yaml()).with_context(place)?;
    std::fs::write(&faults, trial.faults.to_yaml()).with_context(place)?;
    let [topology, faults] = [topology, faults].map(|path| path.display().to_string());
    Ok(format!("inart simulate {}", trial.arguments(&topology, &faults)))
}

/// Draws itself on a terminal's standard error, and is silent in a pipe.
fn progress_bar(trials: u64) -> ProgressBar {
    let bar = ProgressBar::new(trials);
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} trials, {elapsed}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
