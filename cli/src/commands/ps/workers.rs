//! A run of workers.

use std::fmt::Write as _;

use anyhow::{Context, anyhow, ensure};
use inart_protocol_ps::{Applied, BatchRule, Blocking, Spacing, SyncModel};
use inart_simulator_ps::{Absence, WorkerOptions, WorkerRun, run_workers};
use inart_topologies::ps::Job;
use inart_topologies::units::counted;

use crate::commands::ps::absent::warn_late;
use crate::commands::ps::common::{Common, refuse};

/// Default number of iterations.
const ITERATIONS: u32 = 100;
/// Largest number of iterations.
const MOST_ITERATIONS: u32 = 1_000_000;

/// Flags of jobs of workers.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct WorkerArgs {
    /// With ssp: most iterations that a worker may be ahead of the slowest [default: 5].
    #[arg(long, value_name = "S")]
    staleness: Option<u64>,
    /// With ssp: where to stop a worker that is ahead [default: after-push]
    ///
    /// after-push stops it before it pulls. before-commit holds its update.
    #[arg(long, value_parser = ["after-push", "before-commit"])]
    block: Option<String>,
    /// With safa: most versions that a worker may lag behind [default: 5].
    #[arg(long, value_name = "VERSIONS")]
    lag: Option<u64>,
    /// With r2sp: when to apply updates: in-turn or on-arrival [default: in-turn]
    ///
    /// in-turn bounds staleness by N - 1. on-arrival is Algorithm 1 of the R²SP paper.
    #[arg(long, value_parser = ["in-turn", "on-arrival"])]
    apply: Option<String>,
    /// Tune batches: fill-idle (also without a value), or in proportion to speed.
    #[arg(long, value_name = "RULE", num_args = 0..=1, require_equals = true, default_missing_value = "fill-idle",
        value_parser = ["fill-idle", "proportional"])]
    tune_batches: Option<String>,
    /// Iterations of every worker; statistics leave out a third of them [default: 100].
    #[arg(long, value_name = "N")]
    iterations: Option<u32>,
}

impl WorkerArgs {
    /// Refuses flags of workers.
    pub fn refused(&self) -> anyhow::Result<()> {
        refuse(self.staleness.is_some(), "staleness", "ssp")?;
        refuse(self.block.is_some(), "block", "ssp")?;
        refuse(self.lag.is_some(), "lag", "safa")?;
        refuse(self.apply.is_some(), "apply", "r2sp")?;
        refuse(self.tune_batches.is_some(), "tune-batches", "bsp, asp, ssp, safa or r2sp")?;
        refuse(self.iterations.is_some(), "iterations", "bsp, asp, ssp, safa or r2sp")
    }

    /// Returns the order that the flags name.
    pub fn sync_model(&self, common: &Common<'_>) -> anyhow::Result<SyncModel> {
        let sync = common.sync;
        for (is_given, flag, wanted) in [
            (self.staleness.is_some(), "staleness", "ssp"),
            (self.block.is_some(), "block", "ssp"),
            (self.lag.is_some(), "lag", "safa"),
            (self.apply.is_some(), "apply", "r2sp"),
        ] {
            refuse(is_given && sync != wanted, flag, wanted)?;
        }
        refuse(common.relaxation.is_some() && sync != "r2sp", "relaxation", "r2sp or fl-r2sp")?;
        refuse(common.fraction.is_some() && sync != "safa", "fraction", "safa or fl-r2sp")?;
        let applied = match self.apply.as_deref() {
            Some("on-arrival") => Applied::OnArrival,
            _ => Applied::InTurn,
        };
        let blocking = match self.block.as_deref() {
            Some("before-commit") => Blocking::BeforeCommit,
            _ => Blocking::AfterPush,
        };
        match sync {
            "bsp" => Ok(SyncModel::bsp()),
            "asp" => Ok(SyncModel::asp()),
            "ssp" => SyncModel::ssp(self.staleness.unwrap_or(5), blocking).context("--staleness"),
            "safa" => {
                SyncModel::safa(common.fraction.unwrap_or(0.75), self.lag.unwrap_or(5)).context("--fraction")
            }
            _ => match common.relaxation {
                Some("auto") => Ok(SyncModel::r2sp_tuned(applied)),
                text => {
                    let r = text.unwrap_or("0.8");
                    let wrong = || anyhow!("--relaxation {r}: give a part from 0 to 1, or auto");
                    SyncModel::r2sp(r.parse().map_err(|_| wrong())?, applied).context("--relaxation")
                }
            },
        }
    }

    /// Refuses flags that have no effect on aggregated groups.
    pub fn refused_in_groups(&self) -> anyhow::Result<()> {
        refuse(self.staleness.is_some(), "staleness", "ssp")?;
        refuse(self.block.is_some(), "block", "ssp")?;
        refuse(self.lag.is_some(), "lag", "safa")?;
        for (is_given, flag) in
            [(self.apply.is_some(), "apply"), (self.tune_batches.is_some(), "tune-batches")]
        {
            ensure!(
                !is_given,
                "--{flag}: groups (--aggregated-groups) meet the servers in turn without it; leave it out"
            );
        }
        Ok(())
    }

    /// Returns the iterations of a run in virtual time.
    pub fn checked_iterations(&self) -> anyhow::Result<u32> {
        let iterations = self.iterations.unwrap_or(ITERATIONS);
        ensure!(
            (2..=MOST_ITERATIONS).contains(&iterations),
            "--iterations {iterations}: give a number from 2 to {MOST_ITERATIONS}"
        );
        Ok(iterations)
    }

    /// Returns the number of iterations; `None` without the flag.
    pub fn iterations(&self) -> Option<u32> {
        self.iterations
    }

    /// Returns the tuning of batches.
    pub fn tuning(&self) -> Option<BatchRule> {
        self.tune_batches.as_deref().map(|rule| match rule {
            "proportional" => BatchRule::Proportional,
            _ => BatchRule::FillIdle,
        })
    }

    /// Removes the flags of other orders.
    pub fn of(&self, sync: &str) -> WorkerArgs {
        let is = |wanted: &str| sync == wanted;
        WorkerArgs {
            staleness: self.staleness.filter(|_| is("ssp")),
            block: self.block.clone().filter(|_| is("ssp")),
            lag: self.lag.filter(|_| is("safa")),
            apply: self.apply.clone().filter(|_| is("r2sp")),
            ..self.clone()
        }
    }

    /// Returns these flags for a server's process, without the iterations.
    pub fn flags(&self) -> Vec<String> {
        let of = |name: &str, value: Option<String>| value.map(|value| format!("--{name}={value}"));
        let all = [
            of("staleness", self.staleness.map(|staleness| staleness.to_string())),
            of("block", self.block.clone()),
            of("lag", self.lag.map(|lag| lag.to_string())),
            of("apply", self.apply.clone()),
            of("tune-batches", self.tune_batches.clone()),
        ];
        all.into_iter().flatten().collect()
    }

    /// Runs a job and returns the text or the document to print.
    pub fn run(
        &self,
        job: &Job,
        common: &Common<'_>,
        absences: Vec<Absence>,
        json: bool,
    ) -> anyhow::Result<String> {
        let iterations = self.checked_iterations()?;
        let sync_model = self.sync_model(common)?;
        let tuning = self.tuning();
        let options = WorkerOptions {
            tuning,
            seed: common.seed,
            patience_s: common.patience_s,
            absences,
            ..WorkerOptions::new(sync_model, iterations)
        };
        let run = run_workers(job, &options)?;
        warn_late(common.absent, run.seconds);
        if json {
            return Ok(serde_json::to_string(&run)? + "\n");
        }
        Ok(table(job, &sync_model, tuning.is_some(), &run))
    }
}

fn table(job: &Job, sync_model: &SyncModel, is_tuned: bool, run: &WorkerRun) -> String {
    let quantile = |name: &str| run.gap_quantiles_s.get(name).copied().unwrap_or(0.0);
    let relaxation = match sync_model {
        SyncModel::R2sp(order) if order.spacing != Spacing::None => format!(", r {:.2}", run.relaxation),
        _ => String::new(),
    };
    let mut out = format!(
        "{}: {}, {:.4} s per iteration{relaxation}, {:.4} s of it blocked\n\
         gaps between pushes: {:.1}% zero, median {:.4} s, 5% above {:.4} s\n\
         staleness: mean {:.2}, at most {}\n\
         the server's port is used {:.1}% inwards and {:.1}% outwards; {} in {:.1} s\n",
        run.sync,
        counted(job.participants.len(), "worker"),
        run.iteration_s,
        run.blocking_s,
        run.bunched_arrivals * 100.0,
        quantile("0.5"),
        quantile("0.95"),
        run.staleness.mean,
        run.staleness.max,
        run.utilization_in * 100.0,
        run.utilization_out * 100.0,
        counted(run.pushes, "push"),
        run.seconds
    );
    if is_tuned {
        let batches: Vec<_> =
            job.participants.iter().map(|worker| (&worker.name, run.batches[&worker.name])).collect();
        let texts: Vec<_> = batches.iter().map(|(name, batch)| format!("{name} {batch}")).collect();
        let _ = writeln!(out, "batches: {}", texts.join(", "));
    }
    if run.given_up > 0 {
        let _ = writeln!(out, "{} of workers", counted(run.given_up, "eviction"));
    }
    out
}
