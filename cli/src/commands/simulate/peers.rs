//! `inart simulate NETWORK` on a network of peers.

mod machines;

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::ensure;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use inart_peers_agent::Sync;
use inart_planner_peers::{Guard, Options, Pairs, Reading, Scheme, Sharing};
use inart_simulator_peers::Until;
use inart_simulator_peers::ideal::{Draw, Rounds, Ssp, SspOptions, run_rounds, run_ssp};
use inart_topologies::peers::Mesh;
use inart_topologies::units::counted;

use crate::commands::network;
use crate::commands::output::print;
use crate::commands::peers::own::OwnArgs;
use crate::commands::plan::peers::Receivers;
use crate::commands::values::seconds;
use crate::line::section::{PEERS, Section};
use crate::line::{Invocation, OnNetwork};

/// Largest number of rounds.
const MAX_ROUNDS: u32 = 1_000_000;

/// Arguments of `inart simulate` on a network of peers.
#[derive(clap::Args)]
pub struct Args {
    /// Job to run [default: the only one].
    #[arg(long, value_name = "JOB")]
    job: Option<String>,
    #[command(flatten)]
    receivers: Receivers,
    #[command(flatten)]
    own: OwnArgs,
    /// Synchronization of peers: bsp (rounds in lockstep) or ssp (bounded lead).
    #[arg(long, default_value = "bsp", value_parser = ["bsp", "ssp"])]
    sync: String,
    /// With --scheme orpheus: draw receivers for each update (random) or once (fixed).
    #[arg(long, default_value = "random", value_parser = draw())]
    draw: Draw,
    /// Fairness bound K: every pair exchanges at least once per K+1 rounds; none for no bound.
    ///
    /// [default: none with bsp, 4 with ssp].
    #[arg(long = "fairness-bound", value_name = "K", value_parser = number_or_none)]
    force_after: Option<Limit>,
    /// Sharing of a port by multicasts: fair (max-min) or split (equal, not redistributed).
    #[arg(long, default_value = "fair", value_parser = links())]
    links: Sharing,
    /// With --sync bsp: rounds to run, back to back.
    #[arg(long, default_value_t = 1)]
    rounds: u32,
    /// With --sync ssp: most rounds that a peer may be ahead of the slowest; none for no bound.
    #[arg(long, default_value = "4", value_parser = number_or_none)]
    staleness: Limit,
    /// With --sync ssp: part of an update, below which a receiver is no longer withdrawn.
    #[arg(long = "finish-threshold", default_value_t = 0.75)]
    finish_threshold: f64,
    /// With --sync ssp: a further receiver must not break the deadline of any multicast.
    #[arg(long)]
    guard_all: bool,
    /// With --sync ssp: virtual time to train for, such as 60s or 10min.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = seconds)]
    duration: f64,
    /// Run the code of peers and coordinator, chunk by chunk, and verify every update.
    #[arg(long)]
    processes: bool,
    /// With --processes: chunks per update; more are closer to frames and take longer.
    #[arg(long, default_value_t = 100, requires = "processes")]
    chunks: u32,
    /// Random trials, which a test draws.
    #[arg(long = "trials", value_name = "TRIALS", hide = true)]
    trials: Option<u64>,
}

/// A number, or none.
#[derive(Debug, Clone, Copy)]
pub struct Limit(pub Option<u32>);

/// Reads a whole number, or none.
pub fn number_or_none(text: &str) -> Result<Limit, String> {
    match text {
        "none" => Ok(Limit(None)),
        _ => text
            .parse()
            .map(|number| Limit(Some(number)))
            .map_err(|_| "give a whole number, or none".to_owned()),
    }
}

fn draw() -> impl TypedValueParser<Value = Draw> {
    PossibleValuesParser::new(["random", "fixed"])
        .map(|name| if name == "fixed" { Draw::Fixed } else { Draw::Random })
}

fn links() -> impl TypedValueParser<Value = Sharing> {
    PossibleValuesParser::new(["fair", "split"])
        .map(|name| if name == "split" { Sharing::Split } else { Sharing::Fair })
}

impl OnNetwork for Args {
    type Network = Mesh;
    const SECTION: &'static Section = &PEERS;

    fn run(self, network: Mesh, invocation: &Invocation) -> anyhow::Result<ExitCode> {
        run(&self, &network, invocation)
    }
}

fn run(args: &Args, mesh: &Mesh, invocation: &Invocation) -> anyhow::Result<ExitCode> {
    let json = invocation.json;
    ensure!(
        args.trials.is_none(),
        "--trials: not on networks of peers; a test draws their random trials: CAMPAIGN_TIMES=25 cargo test --workspace \
         --test peers-agent campaign"
    );
    let job = network::peer_job(mesh, args.job.as_deref())?;
    let given = args.own.read(&invocation.path, mesh, job)?;
    if args.processes {
        let mut options = args.machines()?;
        options.scheme = if given.is_some() { Scheme::Own } else { options.scheme };
        options.given = given;
        let outcome = inart_simulator_peers::simulate(mesh, job, &options)?;
        print(&if json { serde_json::to_string(&outcome)? + "\n" } else { machines::table(&outcome) })?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = if args.sync == "bsp" {
        let rounds = args.rounds()?;
        let options = args.receivers.options(args.force_after.and_then(|limit| limit.0));
        let options = following(options, given);
        let run = run_rounds(mesh, job, &options, args.draw, args.links, rounds)?;
        if json { serde_json::to_string(&run)? + "\n" } else { rounds_table(&run) }
    } else {
        let mut options = args.ssp()?;
        options.plan = following(options.plan, given);
        let run = run_ssp(mesh, job, &options)?;
        if json { serde_json::to_string(&run)? + "\n" } else { ssp_table(&run) }
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Replaces the receivers of a scheme by the given ones, if any.
fn following(options: Options, given: Option<Arc<Pairs>>) -> Options {
    match given {
        Some(_) => Options { scheme: Scheme::Own, given, ..options },
        None => options,
    }
}

impl Args {
    fn rounds(&self) -> anyhow::Result<u32> {
        let rounds = self.rounds;
        ensure!(
            (1..=MAX_ROUNDS).contains(&rounds),
            "--rounds {rounds}: give a number from 1 to {MAX_ROUNDS}"
        );
        Ok(rounds)
    }

    fn reading(&self) -> anyhow::Result<Reading> {
        ensure!(
            (0.0..=1.0).contains(&self.finish_threshold),
            "--finish-threshold {}: give a part from 0 to 1",
            self.finish_threshold
        );
        Ok(Reading {
            eta: self.finish_threshold,
            second_pass: !self.receivers.first_pass_only,
            guard: if self.guard_all { Guard::All } else { Guard::Own },
            ..Reading::default()
        })
    }

    fn machines(&self) -> anyhow::Result<inart_simulator_peers::Options> {
        ensure!(
            self.draw == Draw::Random,
            "--draw fixed: --processes draws for each update; leave out one of the two"
        );
        ensure!(
            self.links == Sharing::Fair,
            "--links split: not with --processes, whose rates are max-min fair"
        );
        ensure!(
            (1..=machines::MOST_CHUNKS).contains(&self.chunks),
            "--chunks {}: give a number from 1 to {}",
            self.chunks,
            machines::MOST_CHUNKS
        );
        let (sync, until, after) = if self.sync == "bsp" {
            (Sync::Bsp, Until::Rounds(self.rounds()?), None)
        } else {
            let staleness = self.staleness.0.unwrap_or(u32::MAX);
            (Sync::Ssp { staleness }, Until::Seconds(self.duration), Some(4))
        };
        let force_after = self.force_after.map_or(after, |limit| limit.0);
        let plan = self.receivers.options(force_after);
        let (scheme, multicast, seed, chunks) = (plan.scheme, plan.multicast, plan.seed, self.chunks);
        let reading = self.reading()?;
        Ok(inart_simulator_peers::Options {
            scheme,
            given: None,
            reading,
            multicast,
            sync,
            force_after,
            until,
            chunks,
            seed,
        })
    }

    fn ssp(&self) -> anyhow::Result<SspOptions> {
        let force_after = self.force_after.unwrap_or(Limit(Some(4))).0;
        Ok(SspOptions {
            plan: self.receivers.options(force_after),
            reading: self.reading()?,
            draw: self.draw,
            staleness: self.staleness.0.map(u64::from),
            sharing: self.links,
            duration_s: self.duration,
        })
    }
}

fn rounds_table(run: &Rounds) -> String {
    format!(
        "{}, copies by {}: {}, {:.6} s of communication each, {:.2} receivers on average\n\
         no receiver was left out for more than {}\n",
        run.scheme,
        run.multicast,
        counted(run.rounds, "round"),
        run.seconds,
        run.receivers_mean,
        counted(run.longest_wait, "round")
    )
}

fn ssp_table(run: &Ssp) -> String {
    format!(
        "{}, copies by {}: peers computed {:.1}% of the time, {} each reached {:.1}% of the peers\n\
         the first is {} ahead of the last; no receiver was left out for more than {}\n",
        run.scheme,
        run.multicast,
        run.utilization * 100.0,
        counted(run.rounds, "update"),
        run.scale * 100.0,
        counted(run.max_gap, "round"),
        counted(run.longest_wait, "round")
    )
}
