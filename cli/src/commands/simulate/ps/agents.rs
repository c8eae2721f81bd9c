//! `inart simulate NETWORK --sync … --faults FILE`, and `--trials N`: the machines of a parameter server
//! and its workers in virtual time, while links and processes fail.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow, ensure};
use inart_simulator_ps::{
    AgentOptions, AgentRun, CAPABILITIES, ClientOptions, Sync, WorkerOptions, random_faults, run_agents,
    run_clients, run_workers,
};
use inart_topologies::faults::{Faults, Schedule};
use inart_topologies::ps::{Job, Kind};
use inart_topologies::switched::Topology;
use inart_topologies::units::counted;

use crate::commands::ps::absent::Absent;
use crate::commands::ps::clients::{ClientArgs, Shape};
use crate::commands::ps::common::Common;
use crate::commands::ps::workers::WorkerArgs;

/// Default and largest number of chunks of a model.
const CHUNKS: u32 = 32;
const MOST_CHUNKS: u32 = 100_000;
/// Default number of rounds of each group.
const ROUNDS: u32 = 30;

/// Flags of runs of agents.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct AgentArgs {
    /// Run server and workers under this fault schedule (docs/how-to/inject-faults.md).
    #[arg(long, value_name = "FILE", conflicts_with = "trials")]
    faults: Option<PathBuf>,
    /// Run this many random fault schedules, with seeds from --seed.
    #[arg(long = "trials", value_name = "RUNS", value_parser = clap::value_parser!(u64).range(1..))]
    trials: Option<u64>,
    /// With --faults and --trials: chunks of the model [default: 32]
    ///
    /// More chunks are closer to frames and take longer.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_CHUNKS)))]
    chunks: Option<u32>,
}

/// A job and how it is run.
pub struct Run<'a> {
    pub topology: &'a Topology,
    pub job: &'a Job,
    pub common: &'a Common<'a>,
    pub workers: &'a WorkerArgs,
    pub clients: &'a ClientArgs,
}

impl AgentArgs {
    /// Runs the job's agents if requested. Returns the text or the document to print.
    pub fn run(&self, asked: &Run<'_>, json: bool) -> anyhow::Result<Option<String>> {
        if self.faults.is_none() && self.trials.is_none() {
            ensure!(
                self.chunks.is_none(),
                "--chunks: with --faults or --trials only; give one, or leave it out"
            );
            return Ok(None);
        }
        let topology = asked.topology;
        let (options, predicted_s) = self.options(asked)?;
        let text = match (&self.faults, self.trials) {
            (Some(path), _) => faulty(asked, topology, &options, predicted_s, path, json)?,
            (None, runs) => soak(asked, topology, &options, predicted_s, runs.unwrap_or(1), json)?,
        };
        Ok(Some(text))
    }

    /// Returns the options of the run, and the predicted time of an iteration without faults, in seconds.
    fn options(&self, asked: &Run<'_>) -> anyhow::Result<(AgentOptions, f64)> {
        let Run { job, common, workers, clients, .. } = asked;
        let seed = common.seed;
        let (sync, iterations, predicted_s) = match job.kind {
            Kind::Workers => {
                let (sync_model, iterations) = (workers.sync_model(common)?, workers.checked_iterations()?);
                let tuning = workers.tuning();
                let options = WorkerOptions { seed, tuning, ..WorkerOptions::new(sync_model, iterations) };
                (Sync::Order(sync_model), iterations, run_workers(job, &options)?.iteration_s)
            }
            Kind::Clients => {
                let rounds = clients.rounds()?.unwrap_or(ROUNDS);
                ensure!(
                    rounds >= 4,
                    "--rounds {rounds}: give at least 4, of which the first 3 are not counted"
                );
                let Shape { groups, fraction, relaxation } = clients.shape(job.participants.len(), common)?;
                let (patience_s, absences, usage_s) = (None, Vec::new(), None);
                let options = ClientOptions {
                    groups,
                    fraction,
                    relaxation,
                    rounds,
                    seed,
                    patience_s,
                    absences,
                    usage_s,
                };
                (Sync::Groups { groups, fraction, relaxation }, rounds, run_clients(job, &options)?.round_s)
            }
        };
        let mut options = AgentOptions::new(sync, iterations);
        (options.seed, options.tuning) = (seed, workers.tuning());
        options.chunks = self.chunks.unwrap_or(CHUNKS);
        if let Some(patience_s) = common.patience_s {
            options.patience = Duration::from_secs_f64(patience_s);
        }
        Ok((options, predicted_s))
    }
}

fn faulty(
    asked: &Run<'_>,
    topology: &Topology,
    options: &AgentOptions,
    predicted_s: f64,
    path: &Path,
    json: bool,
) -> anyhow::Result<String> {
    let place = || format!("--faults {}", path.display());
    let text = crate::commands::document::read(path).with_context(place)?;
    let mut faults = Faults::from_yaml(&text).with_context(place)?;
    faults.events.extend(asked.common.absent.iter().map(Absent::event));
    let schedule = Schedule::new(topology, &faults, &CAPABILITIES).with_context(place)?;
    let run = run_agents(topology, asked.job, options, &schedule).with_context(place)?;
    let late = schedule.steps.len().saturating_sub(run.faults.len());
    crate::commands::late::warn("faults", late, run.seconds);
    if json {
        return Ok(serde_json::to_string(&run)? + "\n");
    }
    Ok(table(asked.job, predicted_s, &run))
}

fn table(job: &Job, predicted_s: f64, run: &AgentRun) -> String {
    let mut out = format!(
        "{}: {} {}, {:.4} s per iteration ({predicted_s:.4} s predicted without faults)\n",
        run.sync,
        job.participants.len(),
        job.kind.name(),
        run.iteration_s
    );
    for fault in &run.faults {
        let _ = writeln!(out, "{:>9.3} s  {}", fault.at_s, fault.fault);
    }
    let bound = run.staleness_bound.map_or(String::new(), |bound| format!(" of {bound} allowed"));
    let _ = writeln!(
        out,
        "staleness: mean {:.2}, at most {}{bound}\n\
         {} in {}, {} wasted; {} of workers\n\
         {} lost, {} ended, {} retransmitted, {} dropped in {:.1} s\n\
         {} values of updates and models compared bit for bit, all equal",
        run.staleness,
        run.staleness_most,
        counted(run.updates, "update"),
        counted(run.versions, "version"),
        run.wasted_updates,
        counted(run.given_up, "eviction"),
        counted(run.lost_messages, "message"),
        counted(run.disconnected, "connection"),
        counted(run.sent_again, "chunk"),
        counted(run.dropped, "message"),
        run.seconds,
        run.values_compared
    );
    out
}

fn soak(
    asked: &Run<'_>,
    topology: &Topology,
    options: &AgentOptions,
    predicted_s: f64,
    runs: u64,
    json: bool,
) -> anyhow::Result<String> {
    ensure!(
        asked.common.absent.is_empty(),
        "--absent: --trials draws absences itself; leave one of them out, or give --faults"
    );
    let horizon_s = predicted_s * f64::from(options.iterations);
    let (mut updates, mut values, mut faults) = (0, 0, 0);
    for seed in (0..runs).map(|run| options.seed.wrapping_add(run)) {
        let drawn = random_faults(topology, &asked.job.name, horizon_s, seed);
        let schedule = Schedule::new(topology, &drawn, &CAPABILITIES)?;
        let own = AgentOptions { seed, ..options.clone() };
        let run = run_agents(topology, asked.job, &own, &schedule)
            .map_err(|error| anyhow!("--seed {seed}: {error}; its faults:\n{}", drawn.to_yaml()))?;
        updates += run.updates;
        values += run.values_compared;
        faults += run.faults.len();
    }
    Ok(match json {
        true => {
            let all =
                serde_json::json!({"runs": runs, "faults": faults, "updates": updates, "values": values});
            format!("{all}\n")
        }
        false => format!(
            "{runs}, {faults}; {updates} and {values} values compared bit for bit, all equal\n",
            runs = counted(runs, "run"),
            faults = counted(faults, "fault"),
            updates = counted(updates, "update")
        ),
    })
}
