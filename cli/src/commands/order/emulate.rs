//! `inart emulate TOPOLOGY --sync …`.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, ensure};
use inart_emulator::order::{Report, Scheme, Setting, chart, emulate_order, scaled};
use inart_emulator::scale::Scale;
use inart_order_agent::Precision;
use inart_planner::Topology;
use inart_planner::units::display_size;
use inart_trainer::PARAMETERS;
use indicatif::{ProgressBar, ProgressStyle};

use super::common::Common;
use super::connections::of_processes;
use super::network;
use super::workers::WorkerArgs;
use crate::commands::output::print;

/// What the server's port carries in each direction on a machine of two cores, in bit/s.
const CAPACITY_BPS: f64 = 50e6;
/// More processes than are of use on one machine.
const MOST_WORKERS: usize = 64;

/// Arguments of `inart emulate` with `--sync`.
#[derive(clap::Args)]
pub struct Args {
    /// The network document (YAML or JSON); its job says how long workers compute.
    topology: PathBuf,
    /// The job to run [default: the only one that says how long it computes].
    #[arg(long, value_name = "JOB")]
    job: Option<String>,
    /// The orders, one after the other: of bsp, asp, ssp, safa and r2sp.
    #[arg(long, value_delimiter = ',', value_parser = ["bsp", "asp", "ssp", "safa", "r2sp"])]
    sync: Vec<String>,
    /// With r2sp, r: the gap is r T/N; or auto [default: 0.8].
    #[arg(long, value_name = "R")]
    relaxation: Option<String>,
    /// With safa: the part of the workers that is waited for [default: 0.75].
    #[arg(long, value_name = "C")]
    fraction: Option<f64>,
    #[command(flatten)]
    order: WorkerArgs,
    /// Multiply the network's rates by this, like 1/500 [default: so that the server's port carries at most
    /// 50 Mbps]. Times to compute are multiplied so that they keep their proportion to transfers.
    #[arg(long)]
    scale: Option<Scale>,
    /// Images per worker and iteration; the time to compute is that of the document's batch.
    #[arg(long, default_value_t = 16)]
    batch: u32,
    /// The step along the gradient, of all workers together.
    #[arg(long, default_value_t = 0.3)]
    step: f64,
    /// Send values as float16, rounded, both ways.
    #[arg(long)]
    half: bool,
    /// How connections follow the network: bbr, which shares a port evenly, or cubic.
    #[arg(long, default_value = "bbr", value_parser = ["cubic", "bbr"])]
    congestion: String,
    /// Decides data, weights and times to compute.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Draw accuracy over time and staleness to this file (SVG).
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
}

/// Iterations, unless others are asked for.
const ITERATIONS: u32 = 30;
const MOST_ITERATIONS: u32 = 100_000;

/// Runs the command.
pub fn run(args: &Args, json: bool) -> anyhow::Result<ExitCode> {
    let (setting, scale, time) = args.setting()?;
    let bar = ProgressBar::new(1000);
    let style = ProgressStyle::with_template("{msg:12} {bar:40} {percent}%, {elapsed}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let report = emulate_order(&setting, &mut |progress| {
        bar.set_position(progress.done * 1000 / progress.total.max(1));
        bar.set_message(progress.stage.to_owned());
    });
    bar.finish_and_clear();
    let report = report?;
    if let Some(path) = &args.chart {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        }
        std::fs::write(path, chart(&report)).with_context(|| path.display().to_string())?;
    }
    let text = match json {
        true => serde_json::to_string_pretty(&report)? + "\n",
        false => table(&report, scale, time),
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

impl Args {
    fn setting(&self) -> anyhow::Result<(Setting, Scale, f64)> {
        let cluster = network::read(&self.topology)?;
        let job = network::job(&cluster, self.job.as_deref())?;
        let server = self.server(&job.name)?;
        of_processes(&cluster, job, &server)?;
        let workers = job.participants.len();
        ensure!(
            workers <= MOST_WORKERS,
            "job {}: {workers} workers are more processes than one machine runs, {MOST_WORKERS}; name some \
             of them in `workers`, or run `inart simulate`",
            job.name
        );
        ensure!(
            job.participants.iter().all(|worker| worker.delay_s == 0.0),
            "job {}: links with a delay are simulated only; leave `delay` out, or run `inart simulate`",
            job.name
        );
        let iterations = self.order.iterations().unwrap_or(ITERATIONS);
        ensure!(
            (2..=MOST_ITERATIONS).contains(&iterations),
            "--iterations {iterations}: give a number from 2 to {MOST_ITERATIONS}"
        );
        ensure!(self.batch > 0, "--batch 0: give at least 1");
        ensure!(self.step.is_finite() && self.step > 0.0, "--step {}: give a number above 0", self.step);
        let schemes = self.sync.iter().map(|sync| self.scheme(sync)).collect::<anyhow::Result<Vec<_>>>()?;
        let bits = 32.0 * PARAMETERS as f64;
        let most_bps = job.server.in_bps.max(job.server.out_bps);
        let scale = self.scale.unwrap_or_else(|| Scale::fitting(most_bps, CAPACITY_BPS));
        let (job, time) = scaled(job, bits, Some(self.batch), scale.factor());
        let setting = Setting {
            network: cluster.name.clone(),
            server,
            job,
            schemes,
            tuning: self.order.tuning(),
            precision: if self.half { Precision::Half } else { Precision::Single },
            iterations,
            step: self.step,
            seed: self.seed,
            program: std::env::current_exe().context("this program's own file")?,
            congestion: self.congestion.clone(),
        };
        Ok((setting, scale, time))
    }

    /// The job's only server.
    fn server(&self, job: &str) -> anyhow::Result<String> {
        let text = std::fs::read_to_string(&self.topology)?;
        let topology = Topology::from_yaml(&text)?;
        let servers =
            topology.jobs().iter().find(|other| other.name == job).map(|job| job.servers.as_slice());
        match servers {
            Some([server]) => Ok(topology.node(*server).name.clone()),
            _ => anyhow::bail!("job {job}: processes are there for one server; name one in `servers`"),
        }
    }

    fn scheme(&self, sync: &str) -> anyhow::Result<Scheme> {
        // With several orders, a flag is for the one that knows it.
        let only = |wanted: &[&str]| self.sync.len() == 1 || wanted.contains(&sync);
        let common = Common {
            sync,
            relaxation: self.relaxation.as_deref().filter(|_| only(&["r2sp"])),
            fraction: self.fraction.filter(|_| only(&["safa"])),
            patience_s: None,
            absent: &[],
            seed: self.seed,
        };
        let order = if self.sync.len() == 1 { self.order.clone() } else { self.order.of(sync) };
        let policy = order.policy(&common)?;
        let mut flags = vec!["--sync".to_owned(), sync.to_owned()];
        flags.extend(order.flags());
        if let Some(relaxation) = common.relaxation {
            flags.extend(["--relaxation".to_owned(), relaxation.to_owned()]);
        }
        if let Some(fraction) = common.fraction {
            flags.extend(["--fraction".to_owned(), fraction.to_string()]);
        }
        Ok(Scheme { name: sync.to_owned(), policy, flags })
    }
}

fn table(report: &Report, scale: Scale, time: f64) -> String {
    let mut out = format!(
        "{}: {} workers, a model of {}; rates times {scale}, times of the document times {time:.4}\n\
         order  iteration s  simulated s   port in  port out  zero gaps  staleness  most  90% after  \
         accuracy\n",
        report.network,
        report.workers,
        display_size(report.model_bytes),
    );
    for scheme in &report.schemes {
        let to_90 = scheme.to_90_s.map_or("-".to_owned(), |seconds| format!("{seconds:.1} s"));
        let _ = writeln!(
            out,
            "{:5}  {:>11.3}  {:>11.3}  {:>7.1}%  {:>7.1}%  {:>8.1}%  {:>9.2}  {:>4}  {to_90:>9}  {:>7.1}%",
            scheme.scheme,
            scheme.iteration_s,
            scheme.simulated.iteration_s,
            scheme.utilisation_in * 100.0,
            scheme.utilisation_out * 100.0,
            scheme.zero_gaps * 100.0,
            scheme.staleness_mean,
            scheme.staleness_max,
            scheme.accuracy * 100.0,
        );
    }
    let checked: u64 = report.schemes.iter().map(|scheme| scheme.updates_checked).sum();
    let of = |name: &str| report.schemes.iter().find(|scheme| scheme.scheme == name);
    let _ = writeln!(out, "{checked} updates computed again and compared bit for bit, each applied once");
    if let (Some(bsp), Some(r2sp)) = (of("bsp"), of("r2sp")) {
        let ratio = bsp.iteration_s / r2sp.iteration_s;
        let _ = writeln!(out, "r2sp is {ratio:.2} times as fast per iteration as bsp");
    }
    out
}
