//! `inart simulate --trials`: random trials, as many at a time as there are processors. Each seed has two:
//! one of a network with jobs, and one of controllers.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use inart_controller::ValuesChoice;
use inart_simulator_aggregation::campaign::Trial;
use inart_simulator_aggregation::controllers::{self, Outcome};
use inart_simulator_aggregation::{Dataplane, Error, Options, Report, Tally};
use inart_topologies::faults::quantity::Span;
use inart_topologies::units::{counted, display_size};
use indicatif::{ProgressBar, ProgressStyle};

use crate::commands::output::print;
use crate::commands::simulate::aggregation::args::{Args, with_flag};

/// Trials that a thread runs before all threads compare notes.
const BATCH: u64 = 16;

/// Outcomes of the trials so far.
#[derive(Default)]
struct Soak {
    done: u64,
    /// Plans that the controller refuses.
    refused: u64,
    sums: u64,
    hops: u64,
    tally: Tally,
    /// Number of trials by event.
    trials: BTreeMap<&'static str, u64>,
    /// First failed seed, with the trial and its failure.
    failed: Option<(u64, Part, String)>,
}

/// A trial of a seed.
#[derive(Clone, Copy)]
enum Part {
    /// A network with jobs.
    Network,
    /// Controllers.
    Controllers,
}

/// Outcomes of a seed's two trials.
struct SeedOutcomes {
    network: Result<Report, Error>,
    controllers: Result<Outcome, Error>,
}

/// Runs trials with seeds from `first` on; the first that fails ends the run with status 1.
pub fn run(args: &Args, trials: u64, json: bool) -> anyhow::Result<ExitCode> {
    let first = args.first_seed;
    let ValuesChoice::Exactly(values) = args.values() else {
        bail!("--values: auto; each trial has links of its own: give a number with --trials");
    };
    let dataplane = Arc::new(Dataplane::new(args.target, values).map_err(with_flag)?);
    let bar = progress_bar(trials);
    let start = Instant::now();
    let mut soak = Soak::default();
    while soak.done < trials && soak.failed.is_none() {
        for (seed, both) in batch(first, soak.done..trials, &dataplane) {
            soak.add(seed, both)?;
            if soak.failed.is_some() {
                break;
            }
        }
        bar.set_position(soak.done);
    }
    bar.finish_and_clear();
    let per_second = soak.done as f64 / start.elapsed().as_secs_f64().max(1e-9);
    let replay = soak.failed.as_ref().map(|(seed, part, _)| replay(*seed, *part, &dataplane)).transpose()?;
    let text = match json {
        true => soak.json(first, per_second, replay.as_deref())?,
        false => soak.text(first, per_second),
    };
    print(&text)?;
    Ok(match (soak.failed, replay) {
        (Some((seed, _, failure)), Some(replay)) => {
            eprintln!("error: seed {seed}: {failure}; the least that fails: {replay}");
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    })
}

/// Runs the next of these trials, some on each processor.
fn batch(first: u64, trials: Range<u64>, dataplane: &Arc<Dataplane>) -> Vec<(u64, SeedOutcomes)> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let seeds = |thread| {
        let from = trials.start + thread * BATCH;
        (from..trials.end.min(from + BATCH)).map(|trial| first.wrapping_add(trial))
    };
    std::thread::scope(|scope| {
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
    })
}

impl Soak {
    fn add(&mut self, seed: u64, both: SeedOutcomes) -> anyhow::Result<()> {
        self.done += 1;
        let mut tally = Tally::default();
        if let Some(report) = self.unless_refused(seed, both.network)? {
            tally.add(&report.tally);
            self.sums += report.sums_checked;
            self.hops += report.packet_hops;
            self.failed = report.failure.map(|failure| (seed, Part::Network, failure));
        }
        if let Some(outcome) = self.unless_refused(seed, both.controllers)? {
            tally.add(&outcome.tally);
            self.sums += outcome.sums_checked;
            self.hops += outcome.packet_hops;
            let failed = outcome.failure.map(|failure| (seed, Part::Controllers, failure));
            self.failed = self.failed.take().or(failed);
        }
        self.tally.add(&tally);
        for what in tally.by_name().into_keys() {
            *self.trials.entry(what).or_default() += 1;
        }
        Ok(())
    }

    /// Returns the outcome of a trial; `None` if the controller refuses the trial's plans.
    fn unless_refused<T>(&mut self, seed: u64, outcome: Result<T, Error>) -> anyhow::Result<Option<T>> {
        match outcome {
            // Two ways of a flow that a switch could not tell apart: no run, and nothing wrong.
            Err(Error::Install(_)) => {
                self.refused += 1;
                Ok(None)
            }
            outcome => outcome.with_context(|| format!("seed {seed}")).map(Some),
        }
    }

    fn json(&self, first: u64, per_second: f64, replay: Option<&str>) -> anyhow::Result<String> {
        let document = serde_json::json!({
            "trials": self.done,
            "first": first,
            "plans_refused": self.refused,
            "seeds_per_second": per_second,
            "packet_hops": self.hops,
            "sums_checked": self.sums,
            "faults": self.tally.by_name(),
            "trials_with": self.trials,
            "failed": self.failed.as_ref().map(|(seed, _, failure)| serde_json::json!({
                "seed": seed, "failure": failure, "replay": replay,
            })),
        });
        Ok(format!("{}\n", serde_json::to_string(&document)?))
    }

    fn text(&self, first: u64, per_second: f64) -> String {
        let Soak { done, hops, sums, .. } = self;
        let refused = match self.refused {
            0 => String::new(),
            count => format!("{count} plans that the controller refuses were not run\n"),
        };
        let faults = self.tally.by_name();
        let faults: String = faults
            .iter()
            .map(|(what, count)| format!("  {what}: {count} in {}\n", counted(self.trials[what], "trial")))
            .collect();
        format!(
            "{done} from seed {first} on, {per_second:.0} seeds/s; {hops}, {sums} compared bit for bit\n{refused}{faults}",
            done = counted(*done, "trial"),
            hops = counted(*hops, "packet-hop"),
            sums = counted(*sums, "sum")
        )
    }
}

fn outcome(seed: u64, dataplane: &Arc<Dataplane>) -> SeedOutcomes {
    SeedOutcomes {
        network: Trial::of_seed(seed).run(dataplane),
        controllers: controllers::Trial::of_seed(seed).run(dataplane),
    }
}

/// Writes the smallest failing trial into files. Returns the command that repeats it. Trials of controllers
/// have no files: the command repeats the whole seed, and the smallest failing list of events follows.
fn replay(seed: u64, part: Part, dataplane: &Arc<Dataplane>) -> anyhow::Result<String> {
    let again = format!("inart simulate --trials 1 --first-seed {seed} {}", switches(dataplane));
    let trial = match part {
        Part::Network => Trial::of_seed(seed).shrink(dataplane),
        Part::Controllers => {
            let least = controllers::Trial::of_seed(seed).shrink(dataplane);
            return Ok(format!("{again}\n{least}"));
        }
    };
    if !has_arguments(&trial) {
        return Ok(again);
    }
    let folder = Path::new("out").join(format!("soak-{seed}"));
    let place = || folder.display().to_string();
    std::fs::create_dir_all(&folder).with_context(place)?;
    let [topology, faults] = ["topology.yaml", "faults.yaml"].map(|name| folder.join(name));
    std::fs::write(&topology, trial.topology.to_yaml()).with_context(place)?;
    std::fs::write(&faults, trial.faults.to_yaml()).with_context(place)?;
    let [topology, faults] = [topology, faults].map(|path| path.display().to_string());
    Ok(format!("inart simulate {} {}", arguments(&trial, &topology, &faults), switches(dataplane)))
}

/// Returns the arguments for the switches of a trial.
fn switches(dataplane: &Dataplane) -> String {
    format!("--target {} --values {}", dataplane.kind(), dataplane.values())
}

/// Whether arguments of `inart simulate` can describe a trial. They cannot name the plans of changes, which
/// the seed draws.
fn has_arguments(trial: &Trial) -> bool {
    let Options { changes, watch, live, onward, others, spoilt, .. } = &trial.options;
    let alone = live.is_none() && onward.is_none() && spoilt.is_none();
    alone && changes.is_none() && watch.is_none() && others.is_empty()
}

/// Returns the arguments of `inart simulate` that repeat a trial from files of its topology and faults.
fn arguments(trial: &Trial, topology: &str, faults: &str) -> String {
    let Options {
        rounds,
        runs,
        gradient_values,
        tensors,
        odd_length,
        skip,
        sizes,
        spikes,
        seed,
        peer_timeout,
        limit,
        ..
    } = &trial.options;
    let odd = odd_length.map_or(String::new(), |odd| format!(" --odd-length {odd}"));
    let skip = skip.map_or(String::new(), |skip| format!(" --skip {skip}"));
    let gradient = display_size(*gradient_values as f64 * 4.0).replace(' ', "");
    let peer_timeout = Span(peer_timeout.as_nanos() as u64).to_string().replace(' ', "");
    format!(
        "{topology} --seed {seed} --faults {faults} --rounds {rounds} --runs {runs} --gradient {gradient} \
         --tensors {tensors} --sizes {sizes} --spikes {spikes}{odd}{skip} \
         --window {} --scheme {} --aggregation-depth {} --budget 0s \
         --peer-timeout {peer_timeout} --limit {}",
        trial.window_chunks,
        trial.scheme,
        trial.levels.number(),
        limit.to_string().replace(' ', "")
    )
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::Path;

    use clap::{Args as _, Command, FromArgMatches};
    use inart_simulator_aggregation::SwitchKind;

    use super::*;
    use crate::commands::network::switched;
    use crate::commands::simulate::aggregation::inputs::Inputs;

    #[test]
    fn a_trial_is_the_same_run_from_its_command_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name).display().to_string();
        let (topology, faults) = (file("topology.yaml"), file("faults.yaml"));
        for (number, trial) in (1..).map(Trial::of_seed).filter(has_arguments).take(6).enumerate() {
            let kind = SwitchKind::ALL[number % SwitchKind::ALL.len()];
            let dataplane = Arc::new(Dataplane::new(kind, kind.least_values()).unwrap());
            std::fs::write(&topology, trial.topology.to_yaml()).unwrap();
            std::fs::write(&faults, trial.faults.to_yaml()).unwrap();
            let line = format!("simulate {} {}", arguments(&trial, &topology, &faults), switches(&dataplane));
            let parsed = Args::augment_args(Command::new("simulate"))
                .get_matches_from(line.split(' ').filter(|word| *word != topology));
            let args = Args::from_arg_matches(&parsed).unwrap();
            let Inputs { network, faults, options } =
                Inputs::new(&args, switched(Path::new(&topology)).unwrap().topology).unwrap();
            let again = inart_simulator_aggregation::simulate(&network, &faults, &options, None).unwrap();
            let report = trial.run(&dataplane).unwrap();
            assert_eq!(serde_json::to_value(again).unwrap(), serde_json::to_value(report).unwrap(), "{line}");
        }
    }
}
