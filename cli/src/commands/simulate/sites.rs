//! `inart simulate NETWORK` on a network of sites.

mod faults;
mod soak;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::ensure;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use inart_planner_sites::{AuxiliaryChoice, AuxiliaryUse, Sharing, Tuning};
use inart_simulator_sites::ideal::{self, Knowledge, Run, RunOptions, Until};
use inart_topologies::sites::{Hierarchy, Overlay, SiteJob};
use inart_topologies::units::{Rate, counted};

use crate::commands::network;
use crate::commands::output::print;
use crate::commands::plan::sites::Trees;
use crate::commands::sites::own::OwnArgs;
use crate::commands::sites::{both_levels, own};
use crate::commands::values::{link_rate, seconds};
use crate::line::section::{SITES, Section};
use crate::line::{Invocation, OnNetwork};

/// Default number of rounds.
const ROUNDS: u32 = 10;
/// Largest number of rounds.
const MAX_ROUNDS: u32 = 1_000_000;

/// Arguments of `inart simulate` on a network of sites.
#[derive(clap::Args)]
pub struct Args {
    /// Job to run [default: the only one].
    #[arg(long, value_name = "JOB")]
    job: Option<String>,
    #[command(flatten)]
    trees: Trees,
    #[command(flatten)]
    own: OwnArgs,
    /// Rounds to run, back to back [default: 10].
    #[arg(long, conflicts_with = "duration")]
    rounds: Option<u32>,
    /// Run the rounds that begin within this virtual time, such as 1h, in place of --rounds.
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    duration: Option<f64>,
    /// Knowledge of the scheduler: oracle, static, uniform or passive.
    ///
    /// oracle knows the current rates, static the initial ones, uniform none, passive the duration of past
    /// transfers. [default: oracle; static with --faults].
    #[arg(long, value_parser = knowledge())]
    knowledge: Option<Knowledge>,
    /// With passive and uniform: rate assumed for links without a measurement.
    #[arg(long = "default-rate", default_value = "87.5Mbps", value_parser = link_rate)]
    default_rate: Rate,
    /// With --auxiliary: choose a chunk's path lazily (when a link has room) or eagerly.
    #[arg(long, default_value = "lazy", value_parser = choice())]
    auxiliary_choice: AuxiliaryChoice,
    /// With --auxiliary: chunks in flight above which a tree's link is busy.
    #[arg(long, default_value_t = AuxiliaryUse::default().busy_bound)]
    busy_bound: u32,
    /// With --auxiliary: chunks at its first link at which an auxiliary path is full.
    #[arg(long, default_value_t = AuxiliaryUse::default().queue_length)]
    queue_length: u32,
    /// Sharing of a link by transfers: fair (equal streams) or fifo (one queue).
    ///
    /// star and bkt are always fair. inart is always fifo: a site sends all chunks to a neighbor in one
    /// order.
    #[arg(long, default_value = "fair", value_parser = links())]
    links: Sharing,
    /// Run sites and scheduler under this fault schedule (docs/how-to/inject-faults.md).
    ///
    /// Events are like {at: 10 s, link_down: [n1, n2], duration: 60 s}, `crash: n1` or `crash: scheduler`.
    #[arg(long, value_name = "FILE", conflicts_with = "duration")]
    faults: Option<PathBuf>,
    /// Run random schedules of faults of all kinds, from --seed on (docs/reference/sites.md).
    #[arg(long = "trials", value_name = "RUNS", conflicts_with_all = ["duration", "faults"])]
    trials: Option<u32>,
    /// Random seed of gradients inside sites and, with faults, of all; the first of --trials.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn knowledge() -> impl TypedValueParser<Value = Knowledge> {
    PossibleValuesParser::new(["oracle", "static", "uniform", "passive"]).map(|name| match &*name {
        "static" => Knowledge::Static,
        "uniform" => Knowledge::Uniform,
        "passive" => Knowledge::Passive,
        _ => Knowledge::Oracle,
    })
}

fn choice() -> impl TypedValueParser<Value = AuxiliaryChoice> {
    PossibleValuesParser::new(["lazy", "eager"])
        .map(|name| if name == "eager" { AuxiliaryChoice::Eager } else { AuxiliaryChoice::Lazy })
}

fn links() -> impl TypedValueParser<Value = Sharing> {
    PossibleValuesParser::new(["fair", "fifo"])
        .map(|name| if name == "fifo" { Sharing::Fifo } else { Sharing::Fair })
}

impl Args {
    fn until(&self) -> anyhow::Result<Until> {
        if let Some(seconds) = self.duration {
            return Ok(Until::Seconds(seconds));
        }
        let rounds = self.rounds.unwrap_or(ROUNDS);
        ensure!(
            (1..=MAX_ROUNDS).contains(&rounds),
            "--rounds {rounds}: give a number from 1 to {MAX_ROUNDS}"
        );
        Ok(Until::Rounds(rounds))
    }
}

impl Args {
    fn with_faults(
        &self,
        overlay: &Overlay,
        job: &SiteJob,
        given: RunOptions,
        json: bool,
    ) -> anyhow::Result<String> {
        let rounds = match self.until()? {
            Until::Rounds(rounds) => rounds,
            Until::Seconds(_) => ROUNDS,
        };
        let options = inart_simulator_sites::Options {
            sharing: given.plan.scheme.sharing(given.sharing),
            plan: given.plan,
            auxiliary: given.auxiliary,
            knowledge: faults::knowledge(self.knowledge)?,
            traces: inart_simulator_sites::Traces::FromTheStart,
            compute_s: 0.0,
            prior_bps: given.prior_bps,
            rounds,
            state_bytes: 0,
            seed: self.seed,
        };
        if let Some(trials) = self.trials {
            ensure!(trials > 0, "--trials 0: give at least one run");
            return soak::run(overlay, job, &options, trials, json);
        }
        let schedule = match &self.faults {
            Some(path) => faults::read(overlay, path)?,
            None => Vec::new(),
        };
        faults::run(overlay, job, &options, &schedule, json)
    }

    fn options(&self, overlay: &Overlay) -> anyhow::Result<RunOptions> {
        Ok(RunOptions {
            plan: self.trees.options(overlay)?,
            auxiliary: AuxiliaryUse {
                choice: self.auxiliary_choice,
                busy_bound: self.busy_bound,
                queue_length: self.queue_length,
            },
            sharing: self.links,
            knowledge: self.knowledge.unwrap_or(Knowledge::Oracle),
            prior_bps: self.default_rate.0,
            tuning: Tuning::default(),
            until: self.until()?,
        })
    }
}

impl OnNetwork for Args {
    type Network = Hierarchy;
    const SECTION: &'static Section = &SITES;

    fn run(self, network: Hierarchy, invocation: &Invocation) -> anyhow::Result<ExitCode> {
        run(&self, &network, invocation)
    }
}

fn run(args: &Args, hierarchy: &Hierarchy, invocation: &Invocation) -> anyhow::Result<ExitCode> {
    let (overlay, json) = (&hierarchy.overlay, invocation.json);
    if !hierarchy.insides.is_empty() {
        args.own.refuse_on_both_levels()?;
        ensure!(
            args.faults.is_none(),
            "--faults: it is for networks of sites without insides only; leave it out"
        );
        ensure!(
            args.trials.is_none(),
            "--trials: it is for networks of sites without insides only; leave the nodes with `site:` out of the document"
        );
        let options = |overlay: &Overlay| args.options(overlay);
        let job = args.job.as_deref();
        print(&both_levels::simulated(hierarchy, job, options, args.seed, json)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let plan = args.own.read(&invocation.path, overlay, args.job.as_deref())?;
    let named = plan.as_ref().map(|plan| plan.job.clone()).or_else(|| args.job.clone());
    let job = network::site_job(overlay, named.as_deref())?;
    let mut options = args.options(overlay)?;
    options.plan = own::options(plan, options.plan)?;
    if args.faults.is_some() || args.trials.is_some() {
        print(&args.with_faults(overlay, job, options, json)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let run = ideal::run(overlay, job, &options)?;
    let text = if json { serde_json::to_string(&run)? + "\n" } else { table(&run) };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn table(run: &Run) -> String {
    let seconds =
        |pick: fn(f64, f64) -> f64, start| run.rounds.iter().map(|round| round.seconds).fold(start, pick);
    let (least, most) = (seconds(f64::min, f64::INFINITY), seconds(f64::max, 0.0));
    format!(
        "{}: {}, mean {:.3} s, from {least:.3} s to {most:.3} s\n\
         what the scheduler believed of links was {:.1}% off; sites passed {} on for others\n\
         {} compared bit for bit, all equal\n",
        run.scheme,
        counted(run.rounds.len(), "round"),
        run.mean_s,
        run.table_error * 100.0,
        counted(run.relayed, "chunk"),
        counted(run.sums, "sum")
    )
}
