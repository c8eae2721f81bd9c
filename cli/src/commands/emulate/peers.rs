//! `inart emulate NETWORK` on a network of peers.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, ensure};
use inart_emulator::Measured;
use inart_emulator::machine::scale::{Scale, Scaling, check_slowest};
use inart_emulator::peers::{
    BspFigures, Figures, Progress, Report, SchemeReport, Setting, SspFigures, SwitchReport, Sync, Workload,
    chart, check, emulate_peers,
};
use inart_peers_host::{Job, Schedule};
use inart_planner_peers::{Guard, Multicast, Reading, Scheme};
use inart_targets::Target;
use inart_topologies::peers::{Mesh, PeerJob};
use inart_topologies::units::{Size, counted, display_size};
use inart_training::{Config, Trainer};
use inart_wire::ValuesPerFrame;
use indicatif::{ProgressBar, ProgressStyle};

use crate::commands::control::parse_target;
use crate::commands::drawing::{try_file, write_file};
use crate::commands::network;
use crate::commands::output::print;
use crate::commands::peers::own;
use crate::commands::plan::peers::scheme;
use crate::commands::simulate::peers::{Limit, number_or_none};
use crate::commands::values::{batch, emulated_size};
use crate::line::section::{PEERS, Section};
use crate::line::{Invocation, OnNetwork};

/// Capacity of the ports of all peers together on one machine of two cores, in bit/s upstream.
const CAPACITY_BPS: f64 = 200e6;
/// Where hosts make the copies, every pair of peers has two connections.
const MOST_CONNECTED: usize = 64;
/// More processes than are of use on one machine.
const MOST_PEERS: usize = 256;
const MOST_ROUNDS: u32 = 100_000;

/// Arguments of `inart emulate` on a network of peers.
#[derive(clap::Args)]
pub struct Args {
    /// Job to run [default: the only one].
    #[arg(long, value_name = "JOB")]
    job: Option<String>,
    /// Schemes that choose receivers, one run for each.
    #[arg(long, alias = "scheme", value_delimiter = ',', default_value = "optimized,selmcast,orpheus",
        value_parser = scheme())]
    schemes: Vec<Scheme>,
    /// Plan (JSON) of the receivers of every round, run as `own` in place of --schemes.
    ///
    /// The file is as `inart plan --json` prints it, or has its tasks only.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["schemes", "first_pass_only"])]
    plan: Option<PathBuf>,
    /// Where updates are copied: hosts (QUIC), switch (embedded switches) or both, one by one.
    #[arg(long, value_delimiter = ',', default_value = "hosts", value_parser = ["hosts", "switch"])]
    multicast: Vec<String>,
    /// With --multicast switch: values per frame: 32, 64 or 256.
    ///
    /// Control messages use full-size frames, so short frames suit many peers with small updates.
    #[arg(long, default_value_t = ValuesPerFrame::N256)]
    values: ValuesPerFrame,
    /// With --multicast switch: kind of the switches: v1model, tofino or tofino2.
    ///
    /// Embedded switches run the program that copies updates on the chip.
    #[arg(long, value_name = "NAME", default_value = inart_targets::DEFAULT.name(), value_parser = parse_target)]
    target: &'static dyn Target,
    /// Synchronization of peers: bsp (rounds in lockstep) or ssp (bounded lead).
    ///
    /// With ssp a peer computes for as long as the job states.
    #[arg(long, default_value = "bsp", value_parser = ["bsp", "ssp"])]
    sync: String,
    /// With --sync ssp: most rounds that a peer may be ahead of the slowest; none for no bound.
    #[arg(long, default_value = "4", value_parser = number_or_none)]
    staleness: Limit,
    /// Fairness bound K: every pair exchanges at least once per K+1 rounds; none for no bound.
    ///
    /// [default: none with bsp, 4 with ssp].
    #[arg(long = "fairness-bound", value_name = "K", value_parser = number_or_none)]
    force_after: Option<Limit>,
    /// With --sync ssp: part of an update, below which a receiver is no longer withdrawn.
    #[arg(long = "finish-threshold", default_value_t = 0.75)]
    finish_threshold: f64,
    /// With --sync ssp: a further receiver must not break the deadline of any multicast.
    #[arg(long)]
    guard_all: bool,
    /// With --scheme selmcast: skip the second pass, which adds receivers that cost no time.
    #[arg(long)]
    first_pass_only: bool,
    /// Rounds of every peer.
    #[arg(long, default_value_t = 10)]
    rounds: u32,
    /// Factor on the network's rates, such as 1/2000; traces and delays scale along.
    ///
    /// Printed times are at the network's own rates [default: all peers' ports together send at most 200
    /// Mbps].
    #[arg(long)]
    scale: Option<Scale>,
    /// Send random updates of this size, such as 1 MB, in place of training.
    #[arg(long, value_name = "SIZE", conflicts_with = "batch", value_parser = emulated_size)]
    update: Option<Size>,
    /// Images per peer and round.
    #[arg(long, default_value_t = 32, value_parser = batch::<usize>())]
    batch: usize,
    /// Congestion control of QUIC connections: cubic or bbr.
    #[arg(long, default_value = "cubic", value_parser = ["cubic", "bbr"])]
    congestion: String,
    /// Random seed of data, weights, draws and losses.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// With --sync bsp: SVG file for a chart of the rounds' durations.
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
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
    let own_bytes = network::peer_job(mesh, args.job.as_deref())?.update_bytes[0];
    let mut setting = args.setting(mesh, &invocation.path)?;
    let changes = setting.mesh.next_change(&setting.mesh.jobs()[0], 0.0).is_some();
    args.chart.as_deref().map_or(Ok(()), |file| try_file("--chart", file))?;
    for way in &args.multicast {
        check(&Setting { multicast: multicast(way), ..setting.clone() })?;
    }
    let bar = ProgressBar::new(1000);
    let style = ProgressStyle::with_template("{msg:12} {bar:40} {percent}%, {elapsed}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let mut tell = |progress: Progress<'_>| {
        bar.set_position(progress.done * 1000 / progress.total.max(1));
        bar.set_message(progress.stage.to_owned());
    };
    let Measured { mut report, problem: mut failed } = emulate_peers(&setting, &mut tell)?;
    for way in &args.multicast[1..] {
        if failed.is_some() {
            break;
        }
        setting.multicast = multicast(way);
        match emulate_peers(&setting, &mut tell) {
            Ok(Measured { report: other, problem }) => {
                report.append(other);
                failed = problem;
            }
            Err(error) => failed = Some(error),
        }
    }
    bar.finish_and_clear();
    // Figures from before a failure are printed, too.
    let drawn = match (&args.chart, chart(&report)) {
        (Some(file), Some(drawing)) => write_file("--chart", file, &drawing),
        _ => Ok(()),
    };
    let text = match json {
        true => serde_json::to_string(&report)? + "\n",
        false => table(&report, own_bytes) + &followed(&report, changes),
    };
    print(&text)?;
    drawn?;
    failed.map_or(Ok(ExitCode::SUCCESS), |error| Err(error.into()))
}

impl Args {
    fn setting(&self, mesh: &Mesh, topology: &Path) -> anyhow::Result<Setting> {
        let mut ways = self.multicast.clone();
        ways.sort();
        ways.dedup();
        ensure!(ways.len() == self.multicast.len(), "--multicast: give hosts and switch once each");
        let (rounds, eta) = (self.rounds, self.finish_threshold);
        ensure!(
            (1..=MOST_ROUNDS).contains(&rounds),
            "--rounds {rounds}: give a number from 1 to {MOST_ROUNDS}"
        );
        ensure!((0.0..=1.0).contains(&eta), "--finish-threshold {eta}: give a part from 0 to 1");
        ensure!(
            self.values <= ValuesPerFrame::N256,
            "--values {}: give 32, 64 or 256, whose frames fit the links' MTU of 1500 bytes",
            self.values
        );
        let switches = self.multicast.iter().any(|way| way == "switch");
        ensure!(
            switches || self.target.name() == inart_targets::DEFAULT.name(),
            "--target {}: a kind of switch that makes the copies; give --multicast switch",
            self.target.name()
        );
        if switches && let Err(problem) = self.target.multicast_program(self.values) {
            anyhow::bail!("--target {}, --values {}: {problem}", self.target.name(), self.values);
        }
        let is_bsp = self.sync == "bsp";
        ensure!(
            is_bsp || !self.schemes.contains(&Scheme::Optimal),
            "--schemes optimal plans whole rounds only; give --sync bsp, or some of optimized, selmcast, orpheus"
        );
        ensure!(is_bsp || self.chart.is_none(), "--chart: of bulk synchronous rounds; give --sync bsp");
        let job = network::peer_job(mesh, self.job.as_deref())?;
        let peers = job.peers.len();
        self.check_peers(job)?;
        // Settings that processes would refuse.
        let schedule = Schedule { sync: inart_peers_agent::Sync::Bsp, force_after: None, rounds };
        Job::new(mesh, job, schedule)?;
        let bytes = self.update_bytes(peers)?;
        let demand_bps = mesh.ports_at(job, 0.0).up_bps.iter().sum::<f64>();
        let scale = self.scale.unwrap_or_else(|| Scale::fitting(demand_bps, CAPACITY_BPS));
        let slowest = mesh.ports_at(job, 0.0);
        check_slowest(slowest.up_bps.iter().chain(&slowest.down_bps).copied(), scale.factor())
            .map_err(|problem| anyhow::anyhow!("--scale: {problem}"))?;
        let given = match &self.plan {
            Some(path) => Some(own::read(path, topology, mesh, job)?),
            None => None,
        };
        let (smaller, times) = mesh.scaled(job, bytes, scale.factor());
        Ok(Setting {
            mesh: Arc::new(smaller),
            scale: Scaling { rates: scale.factor(), times },
            schemes: if given.is_some() { vec![Scheme::Own] } else { self.schemes.clone() },
            given,
            multicast: multicast(&self.multicast[0]),
            values_per_frame: self.values,
            target: self.target,
            sync: if is_bsp { Sync::Bsp } else { Sync::Ssp { staleness: self.staleness.0 } },
            force_after: self.force_after.unwrap_or(Limit(if is_bsp { None } else { Some(4) })).0,
            reading: Reading {
                eta,
                second_pass: !self.first_pass_only,
                guard: if self.guard_all { Guard::All } else { Guard::Own },
                ..Reading::default()
            },
            workload: match self.update {
                Some(_) => Workload::Random,
                None => Workload::Training { batch: self.batch },
            },
            rounds,
            seed: self.seed,
            program: std::env::current_exe().context("this program's own file")?,
            congestion: self.congestion.clone(),
        })
    }

    /// Checks that one machine runs all peers and their connections.
    fn check_peers(&self, job: &PeerJob) -> anyhow::Result<()> {
        let peers = job.peers.len();
        ensure!(
            peers <= MOST_PEERS,
            "job {}: {peers} peers are more processes than one machine runs, {MOST_PEERS}; name some of them \
             in `peers`, or run `inart simulate`",
            job.name
        );
        ensure!(
            peers <= MOST_CONNECTED || self.multicast == ["switch"],
            "job {}: {peers} peers are more than have connections with each other on one machine, \
             {MOST_CONNECTED}; give --multicast switch, name some of them in `peers`, or run `inart \
             simulate`",
            job.name
        );
        Ok(())
    }

    /// Returns the size of an update: the model's, unless another is given.
    fn update_bytes(&self, workers: usize) -> anyhow::Result<f64> {
        let config = Config { seed: self.seed, rank: 0, workers, batch: self.batch };
        let model = 4 * Trainer::new(config)?.gradient_len() as u64;
        let bytes = self.update.map_or(model, |size| (size.0 as u64).next_multiple_of(4));
        Ok(bytes as f64)
    }
}

fn multicast(way: &str) -> Multicast {
    if way == "hosts" { Multicast::Hosts } else { Multicast::Switch }
}

fn table(report: &Report, own_bytes: f64) -> String {
    let mut out = format!(
        "{}: {}, with updates of {}; copies by {}, {}\n\
         Times are the network's own: at its rates, with its updates of {}.\n",
        report.network,
        report.scale,
        display_size(report.update_bytes),
        report.multicast,
        report.sync,
        display_size(own_bytes),
    );
    out.push_str(match report.sync {
        "bsp" => "scheme     copies  rounds  longest s  planned s  ratio  simulated s  receivers  round s   \
         load  accuracy\n",
        _ => "scheme     copies  computing  simulated  reached  simulated  rounds  simulated  ahead   load  accuracy\n",
    });
    for scheme in &report.schemes {
        let evaluations = scheme.accuracy.map_or(String::new(), |share| format!("{:.1}%", share * 100.0));
        let figures = match &scheme.figures {
            Figures::Bsp(figures) => bsp_row(figures),
            Figures::Ssp(figures) => ssp_row(figures),
        };
        let load = scheme.port_load * 100.0;
        let _ = writeln!(
            out,
            "{:9}  {:6}  {figures}  {load:>4.0}%  {evaluations:>8}",
            scheme.scheme, scheme.multicast
        );
    }
    let sum = |of: fn(&SchemeReport) -> u64| report.schemes.iter().map(of).sum::<u64>();
    let _ = writeln!(
        out,
        "{} arrived, each as it was sent; {} timed out, {} late, {} retransmitted",
        counted(sum(|scheme| scheme.updates_checked), "update"),
        counted(sum(|scheme| scheme.given_up), "receiver"),
        counted(sum(|scheme| scheme.rounds_with_previous_receivers), "choice"),
        counted(sum(|scheme| scheme.sent_again), "chunk"),
    );
    out + &copied(report)
}

/// Returns the counters of the switches that copy updates, over all schemes.
fn copied(report: &Report) -> String {
    let mut switches: Vec<SwitchReport> = Vec::new();
    for switch in report.schemes.iter().flat_map(|scheme| &scheme.switches) {
        match switches.iter_mut().find(|known| known.switch == switch.switch) {
            None => switches.push(switch.clone()),
            Some(known) => {
                known.unwanted += switch.unwanted;
                known.pruned_at_trunks += switch.pruned_at_trunks;
                for (reason, count) in &switch.dropped {
                    *known.dropped.entry(reason.clone()).or_default() += count;
                }
            }
        }
    }
    let line = |switch: &SwitchReport| {
        let dropped = switch
            .dropped
            .iter()
            .map(|(reason, count)| format!(", {count} dropped: {reason}", count = counted(*count, "frame")));
        format!(
            "switch {}: {} copies were pruned (no receiver behind the port), {} of them at ports to other switches{}\n",
            switch.switch,
            switch.unwanted,
            switch.pruned_at_trunks,
            dropped.collect::<String>()
        )
    };
    switches.iter().map(line).collect()
}

/// Returns the ports whose rates changed: the rates of the coordinator's first plan, from the document, and
/// of its last plan, from measurements.
fn followed(report: &Report, changes: bool) -> String {
    let line = |scheme: &SchemeReport| {
        let Figures::Bsp(figures) = &scheme.figures else { return None };
        let (first, last) = (figures.each_round.first()?, figures.each_round.last()?);
        Some(format!(
            "rates changed: {} by {} planned {:.3} s for its first round, by the document, and {:.3} s for \
             its last, which took {:.3} s\n",
            scheme.scheme, scheme.multicast, first.planned_s, last.planned_s, last.seconds
        ))
    };
    report.schemes.iter().filter(|_| changes).filter_map(line).collect()
}

fn bsp_row(figures: &BspFigures) -> String {
    let BspFigures { seconds, planned_s, simulated_s, receivers_mean, round_s, rounds, .. } = figures;
    let ratio = seconds / planned_s;
    format!(
        "{rounds:>6}  {seconds:>9.3}  {planned_s:>9.3}  {ratio:>5.2}  {simulated_s:>11.3}  \
         {receivers_mean:>9.2}  {round_s:>7.3}"
    )
}

fn ssp_row(figures: &SspFigures) -> String {
    let SspFigures { utilization, scale, rounds, max_gap, simulated, .. } = figures;
    let share = |share: f64| format!("{:.1}%", share * 100.0);
    let beside =
        |of: fn(&inart_simulator_peers::ideal::Ssp) -> f64| simulated.as_ref().map(|run| share(of(run)));
    let [computing, reached] =
        [beside(|run| run.utilization), beside(|run| run.scale)].map(Option::unwrap_or_default);
    let others = simulated.as_ref().map_or(String::new(), |run| run.rounds.to_string());
    format!(
        "{:>9}  {computing:>9}  {:>7}  {reached:>9}  {rounds:>6}  {others:>9}  {max_gap:>5}",
        share(*utilization),
        share(*scale),
    )
}
