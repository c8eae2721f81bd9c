//! `inart emulate NETWORK --sync …`.

mod table;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, ensure};
use inart_emulator::Measured;
use inart_emulator::machine::fault::DropRate;
use inart_emulator::machine::scale::{Scale, Scaling, check_slowest};
use inart_emulator::ps::{
    Clients, Order, ProcessFaults, Scheme, Setting, Transport, chart, emulate_order, scaled,
};
use inart_topologies::Switched;
use inart_topologies::faults::Faults;
use inart_topologies::ps::{Cluster, Job, Kind};
use inart_topologies::switched::Topology;
use inart_training::PARAMETERS;
use indicatif::{ProgressBar, ProgressStyle};

use crate::commands::drawing::{try_file, write_file};
use crate::commands::emulate::ps::table::table;
use crate::commands::host::ps::connections::of_processes;
use crate::commands::host::ps::learner::LearnerArgs;
use crate::commands::network::training_job;
use crate::commands::output::print;
use crate::commands::ps::absent::{Absent, disjoint};
use crate::commands::ps::clients::{ClientArgs, Shape, cosine};
use crate::commands::ps::common::{Common, refuse};
use crate::commands::ps::dtype::Dtype;
use crate::commands::ps::no_plan::NoPlan;
use crate::commands::ps::workers::WorkerArgs;
use crate::commands::values::{batch, seconds};
use crate::line::section::{SERVERS, Section};
use crate::line::{Asked, OnNetwork};

/// What the server's port carries in each direction on a machine of two cores, in bit/s.
const CAPACITY_BPS: f64 = 50e6;
/// More processes than are of use on one machine.
const MOST_WORKERS: usize = 64;

/// Arguments of `inart emulate` with `--sync`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    no_plan: NoPlan,
    /// The job to run [default: the only one that says how long it computes].
    #[arg(long, value_name = "JOB")]
    job: Option<String>,
    /// The orders, one after the other: of bsp, asp, ssp, safa and r2sp; of a job of clients, of bsp and
    /// fl-r2sp.
    #[arg(long, value_delimiter = ',', value_parser = ["bsp", "asp", "ssp", "safa", "r2sp", "fl-r2sp"])]
    sync: Vec<String>,
    /// With r2sp and fl-r2sp, r: the gap is r T/N, or r T/M; with r2sp also auto [default: 0.8 with r2sp, 1
    /// with fl-r2sp].
    #[arg(long, value_name = "R")]
    relaxation: Option<String>,
    /// With safa and fl-r2sp: the part of the workers, or of a group, that is waited for [default: 0.75].
    #[arg(long, value_name = "C")]
    fraction: Option<f64>,
    #[command(flatten)]
    order: WorkerArgs,
    #[command(flatten)]
    clients: ClientArgs,
    #[command(flatten)]
    learner: LearnerArgs,
    /// Of a job of clients: leave out who goes another way than its group, with a cosine below this in three
    /// rounds [default without a value: 0.5, as in the paper].
    #[arg(long, value_name = "COSINE", num_args = 0..=1, require_equals = true, default_missing_value = "0.5",
        value_parser = cosine, allow_hyphen_values = true)]
    outliers: Option<f64>,
    /// Of a job of clients: these push the opposite of what they have learnt.
    #[arg(long = "sign-flip", value_name = "NAME", value_delimiter = ',')]
    opposite: Vec<String>,
    /// Multiply the network's rates by this, like 1/500 [default: so that the server's port carries at most
    /// 50 Mbps]. Times to compute and delays are multiplied so that they keep their proportion to transfers;
    /// times are printed as at the network's own rates.
    #[arg(long)]
    scale: Option<Scale>,
    /// Images per worker and iteration; the time to compute is that of the document's batch.
    #[arg(long, default_value_t = 16, value_parser = batch::<u32>())]
    batch: u32,
    /// Data type of values in messages; float16 rounds them, both ways.
    #[arg(long, value_enum, default_value_t, value_name = "TYPE")]
    dtype: Dtype,
    /// How processes speak: by quic, as across routed networks, or by raw frames inside one network.
    #[arg(long, default_value = "quic", value_parser = ["quic", "frames"])]
    transport: String,
    /// By QUIC, how connections follow the network: bbr, which shares a port evenly, or cubic [default: bbr].
    #[arg(long, value_parser = ["cubic", "bbr"])]
    congestion: Option<String>,
    /// Share of frames that each worker's link loses in either direction, like 0.1%.
    #[arg(long, default_value = "0")]
    drop: DropRate,
    /// A process is killed, and started again later, such as w3=2s..6s, or not at all: w3=2s..; the
    /// server's, too, which goes on from the model that it has kept: s1=3s..4s (again for others). Times are
    /// by the emulation's clock, from its first pull on, and not multiplied by --scale.
    #[arg(long, value_name = "NAME=FROM..UNTIL")]
    absent: Vec<Absent>,
    /// A fault schedule whose `crash` events kill processes of the job's hosts, and start them again after
    /// `for`; times as with --absent, which adds such events.
    #[arg(long, value_name = "FILE")]
    faults: Option<PathBuf>,
    /// How long the server waits for a push, or a request, before it gives the worker or client up, such as
    /// 3s by the emulation's clock. Without it, who has had no connection for 10 s is given up.
    #[arg(long = "push-timeout", value_name = "TIME", value_parser = seconds)]
    patience: Option<f64>,
    /// Decides data, weights and times to compute.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Draw accuracy over time and staleness to this file (SVG).
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
}

/// Iterations, unless others are asked for.
const ITERATIONS: u32 = 30;
/// Rounds of each group, unless others are asked for.
const ROUNDS: u32 = 12;
const MOST_ITERATIONS: u32 = 100_000;

impl OnNetwork for Args {
    type Network = Switched;
    const SECTION: &'static Section = &SERVERS;

    fn run(self, network: Switched, asked: &Asked) -> anyhow::Result<ExitCode> {
        run(&self, &network, asked)
    }
}

fn run(args: &Args, network: &Switched, asked: &Asked) -> anyhow::Result<ExitCode> {
    let json = asked.json;
    args.no_plan.refuse(false)?;
    let cluster = network.training().with_context(|| asked.path.display().to_string())?;
    let (setting, own_bits) = args.setting(&network.topology, &cluster)?;
    args.chart.as_deref().map_or(Ok(()), |file| try_file("--chart", file))?;
    let bar = ProgressBar::new(1000);
    let style = ProgressStyle::with_template("{msg:12} {bar:40} {percent}%, {elapsed}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let report = emulate_order(&setting, &mut |progress| {
        bar.set_position(progress.done * 1000 / progress.total.max(1));
        bar.set_message(progress.stage.to_owned());
    });
    bar.finish_and_clear();
    let Measured { report, problem } = report?;
    // Figures from before a failure are printed, too.
    let drawn = args.chart.as_deref().map_or(Ok(()), |file| write_file("--chart", file, &chart(&report)));
    let text = match json {
        true => serde_json::to_string(&report)? + "\n",
        false => table(&report, own_bits / 8.0),
    };
    print(&text)?;
    drawn?;
    problem.map_or(Ok(ExitCode::SUCCESS), |error| Err(error.into()))
}

/// The job's only server.
fn server_of(topology: &Topology, job: &str) -> anyhow::Result<String> {
    let servers = topology.jobs().iter().find(|other| other.name == job).map(|job| job.servers.as_slice());
    match servers {
        Some([server]) => Ok(topology.node(*server).name.clone()),
        _ => anyhow::bail!("job {job}: processes are there for one server; name one in `servers`"),
    }
}

impl Args {
    /// Returns the setting to emulate, and the size of the document's own model in bits.
    fn setting(&self, topology: &Topology, cluster: &Cluster) -> anyhow::Result<(Setting, f64)> {
        let job = training_job(cluster, self.job.as_deref())?;
        let server = server_of(topology, &job.name)?;
        of_processes(cluster, job, &server)?;
        let workers = job.participants.len();
        ensure!(
            workers <= MOST_WORKERS,
            "job {}: {workers} workers are more processes than one machine runs, {MOST_WORKERS}; name some \
             of them in `workers`, or run `inart simulate`",
            job.name
        );
        ensure!(
            self.transport == "quic" || self.congestion.is_none(),
            "--congestion: it is for QUIC, and with --transport frames frames are sent; leave it out"
        );
        let iterations = self.length(job.kind)?;
        self.learner.check(job.kind)?;
        let clients = self.trained(job)?;
        if let Some(twice) = (1..self.sync.len()).find(|&at| self.sync[..at].contains(&self.sync[at])) {
            anyhow::bail!("--sync: {} is named twice; name it once", self.sync[twice]);
        }
        let schemes =
            self.sync.iter().map(|sync| self.scheme(job, sync)).collect::<anyhow::Result<Vec<_>>>()?;
        let faults = self.faults(topology, job, &server)?;
        let bits = 32.0 * PARAMETERS as f64;
        let most_bps = job.server.in_bps.max(job.server.out_bps);
        let scale = self.scale.unwrap_or_else(|| Scale::fitting(most_bps, CAPACITY_BPS));
        let nics = job.participants.iter().map(|one| one.nic).chain([job.server]);
        check_slowest(nics.flat_map(|nic| [nic.in_bps, nic.out_bps]), scale.factor())
            .map_err(|problem| anyhow::anyhow!("--scale: {problem}"))?;
        let own_bits = job.bits;
        let (job, times) = scaled(job, bits, Some(self.batch), scale.factor());
        let setting = Setting {
            network: cluster.name.clone(),
            server,
            job,
            scale: Scaling { rates: scale.factor(), times },
            schemes,
            clients,
            tuning: self.order.tuning(),
            precision: self.dtype.precision(),
            iterations,
            step: self.learner.step,
            seed: self.seed,
            program: std::env::current_exe().context("this program's own file")?,
            transport: if self.transport == "frames" { Transport::Frames } else { Transport::Quic },
            congestion: self.congestion.clone().unwrap_or_else(|| "bbr".to_owned()),
            drop: self.drop,
            patience_s: self.patience,
            faults,
        };
        Ok((setting, own_bits))
    }

    /// Events of --faults, then those of --absent.
    fn faults(&self, topology: &Topology, job: &Job, server: &str) -> anyhow::Result<ProcessFaults> {
        disjoint(&self.absent)?;
        for absent in &self.absent {
            let name = absent.name();
            let is_server = name == server;
            ensure!(
                is_server || job.participants.iter().any(|one| one.name == name),
                "--absent {name}: job {} has no such participant",
                job.name
            );
            ensure!(
                !is_server || absent.ends(),
                "--absent {name}: no worker trains without the server; say when it comes back, like 10s..12s"
            );
        }
        let place =
            || self.faults.as_ref().map_or("--absent".into(), |path| format!("--faults {}", path.display()));
        let mut faults = match &self.faults {
            Some(path) => {
                let text = crate::commands::document::read(path).with_context(place)?;
                Faults::from_yaml(&text).with_context(place)?
            }
            None => Faults::default(),
        };
        faults.events.extend(self.absent.iter().map(Absent::event));
        ProcessFaults::new(topology, &job.name, &faults).with_context(place)
    }

    /// Iterations, or rounds.
    fn length(&self, kind: Kind) -> anyhow::Result<u32> {
        if kind == Kind::Clients {
            let rounds = self.clients.rounds()?.unwrap_or(ROUNDS);
            ensure!(rounds >= 4, "--rounds {rounds}: give at least 4, as the first three are not counted");
            return Ok(rounds);
        }
        let iterations = self.order.iterations().unwrap_or(ITERATIONS);
        ensure!(
            (2..=MOST_ITERATIONS).contains(&iterations),
            "--iterations {iterations}: give a number from 2 to {MOST_ITERATIONS}"
        );
        Ok(iterations)
    }

    /// How clients train, in a job of clients.
    fn trained(&self, job: &Job) -> anyhow::Result<Option<Clients>> {
        if job.kind == Kind::Workers {
            refuse(!self.opposite.is_empty(), "sign-flip", "fl-r2sp")?;
            refuse(self.outliers.is_some(), "outliers", "fl-r2sp")?;
            return Ok(None);
        }
        let place = |name: &String| {
            let place = job.participants.iter().position(|client| client.name == *name);
            place.with_context(|| format!("--sign-flip {name}: job {} has no such client", job.name))
        };
        let opposite = self.opposite.iter().map(place).collect::<anyhow::Result<_>>()?;
        self.learner.learner(job, self.seed, 0, false)?;
        Ok(Some(Clients { local: self.learner.local(), opposite }))
    }

    fn scheme(&self, job: &Job, sync: &str) -> anyhow::Result<Scheme> {
        // With several orders, a flag is for the one that knows it.
        let only = |wanted: &[&str]| self.sync.len() == 1 || wanted.contains(&sync);
        let common = Common {
            sync,
            relaxation: self.relaxation.as_deref().filter(|_| only(&["r2sp", "fl-r2sp"])),
            fraction: self.fraction.filter(|_| only(&["safa", "fl-r2sp"])),
            patience_s: None,
            absent: &[],
            seed: self.seed,
        };
        let mut flags = vec!["--sync".to_owned(), sync.to_owned()];
        let order = match job.kind {
            Kind::Workers => {
                ensure!(
                    sync != "fl-r2sp",
                    "--sync fl-r2sp: job {} has workers, and this is for clients; name `clients`, or take \
                     r2sp",
                    job.name
                );
                self.clients.refused()?;
                let order = if self.sync.len() == 1 { self.order.clone() } else { self.order.of(sync) };
                flags.extend(order.flags());
                Order::Workers(order.policy(&common)?)
            }
            Kind::Clients => {
                ensure!(
                    ["bsp", "fl-r2sp"].contains(&sync),
                    "--sync {sync}: job {} has clients, and this is for workers; take fl-r2sp or bsp",
                    job.name
                );
                self.order.refused()?;
                let own = if self.sync.len() == 1 { self.clients.clone() } else { self.clients.of(sync) };
                let Shape { groups, fraction, relaxation } = own.shape(job.participants.len(), &common)?;
                flags.extend(own.flags());
                flags.extend(self.outliers.map(|cosine| format!("--outliers={cosine}")));
                Order::Groups { groups, fraction, relaxation }
            }
        };
        if let Some(relaxation) = common.relaxation {
            flags.extend(["--relaxation".to_owned(), relaxation.to_owned()]);
        }
        if let Some(fraction) = common.fraction {
            flags.extend(["--fraction".to_owned(), fraction.to_string()]);
        }
        Ok(Scheme { name: sync.to_owned(), order, flags })
    }
}
