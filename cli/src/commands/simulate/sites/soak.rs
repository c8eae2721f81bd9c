//! `inart simulate --trials` on networks of sites: random faults, some runs on each processor.

use std::collections::BTreeMap;

use anyhow::anyhow;
use inart_simulator_sites::{Options, Outcome, SimulationError, Trial, simulate};
use inart_topologies::sites::{Overlay, SiteJob};
use inart_topologies::units::counted;

use crate::commands::simulate::sites::faults::{sample, scaled};

/// Faults begin within this number of rounds of the scheme.
const ROUNDS: f64 = 4.0;
/// Runs of a thread before all threads report.
const BATCH: u32 = 8;

/// Results of the runs so far.
#[derive(Default)]
struct Soak {
    values: u64,
    joined: u64,
    asks: u64,
    faults: usize,
    ended_early: u32,
    /// Occurrences by event, and the number of runs that had each.
    seen: BTreeMap<&'static str, (u64, u32)>,
}

/// Runs random schedules; the first failure names its seed.
pub fn run(
    overlay: &Overlay,
    job: &SiteJob,
    options: &Options,
    trials: u32,
    json: bool,
) -> anyhow::Result<String> {
    let sample = sample(overlay, job)?;
    let options = scaled(overlay, job, &sample, options)?;
    let calm = simulate(&sample, &Options { rounds: 2, ..options.clone() }, &[])?;
    let within_s = calm.mean_s * ROUNDS;
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
    let mut soak = Soak::default();
    let mut done = 0;
    while done < trials {
        let seeds = |thread: u32| {
            let first = done.saturating_add(thread * BATCH).min(trials);
            (first..first.saturating_add(BATCH).min(trials))
                .map(|trial| options.seed.wrapping_add(trial.into()))
        };
        let of_thread = |thread| {
            let one = |seed| (seed, one(&sample, &options, within_s, seed));
            seeds(thread).map(one).collect::<Vec<_>>()
        };
        let batch: Vec<_> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..threads).map(|thread| scope.spawn(move || of_thread(thread))).collect();
            all.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
        });
        for (seed, (trial, outcome)) in batch {
            let outcome = outcome.map_err(|error| anyhow!("--seed {seed}: {error}; {:?}", trial.faults))?;
            soak.add(&trial, &outcome);
            done += 1;
        }
    }
    Ok(if json { soak.json(trials) } else { soak.text(trials) })
}

fn one(
    sample: &Overlay,
    options: &Options,
    within_s: f64,
    seed: u64,
) -> (Trial, Result<Outcome, SimulationError>) {
    let trial = Trial::of_seed(sample, within_s, seed);
    let options = Options { seed, state_bytes: trial.state_bytes, ..options.clone() };
    let outcome = simulate(sample, &options, &trial.faults);
    (trial, outcome)
}

impl Soak {
    fn add(&mut self, trial: &Trial, outcome: &Outcome) {
        self.values += outcome.values_compared;
        self.joined += outcome.joined;
        self.asks += outcome.asks;
        self.faults += trial.faults.len();
        self.ended_early += u32::from(outcome.ended.is_some());
        for (what, count) in &outcome.seen {
            let seen = self.seen.entry(what).or_default();
            *seen = (seen.0 + count, seen.1 + 1);
        }
    }

    fn json(&self, trials: u32) -> String {
        let of = |pick: fn(&(u64, u32)) -> u64| -> BTreeMap<_, _> {
            self.seen.iter().map(|(what, seen)| (*what, pick(seen))).collect()
        };
        let document = serde_json::json!({ "trials": trials, "faults": self.faults, "joined": self.joined,
            "asks": self.asks, "values_compared": self.values, "ended_early": self.ended_early,
            "seen": of(|seen| seen.0), "trials_with": of(|seen| seen.1.into()) });
        format!("{document}\n")
    }

    fn text(&self, trials: u32) -> String {
        let Soak { faults, joined, asks, values, ended_early, .. } = self;
        let seen = self.seen.iter();
        let seen: String = seen
            .map(|(what, (count, runs))| {
                format!("  {what}: {count} in {runs}\n", runs = counted(*runs, "run"))
            })
            .collect();
        let over = trials - ended_early;
        format!(
            "{} with {}: all rounds ended in {over}, and {ended_early} ended early at every \
             site by the name of the cause\n{} joined again, chunks were asked for {}\n{} of sums compared \
             bit for bit, all equal\n{seen}",
            counted(trials, "run"),
            counted(*faults, "fault"),
            counted(*joined, "site"),
            counted(*asks, "time"),
            counted(*values, "value")
        )
    }
}
