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
use crate::line::{Invocation, OnNetwork};

/// Capacity of the server's port in each direction on a machine of two cores, in bit/s.
const CAPACITY_BPS: f64 = 50e6;
/// More processes than are of use on one machine.
const MOST_WORKERS: usize = 64;

/// Arguments of `inart emulate` with `--sync`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    no_plan: NoPlan,
    /// Job to run [default: the only job with `compute`].
    #[arg(long, value_name = "JOB")]
    job: Option<String>,
    /// Synchronization models to compare: bsp,asp,ssp,safa,r2sp; with clients: bsp,fl-r2sp.
    #[arg(long, value_delimiter = ',', value_parser = ["bsp", "asp", "ssp", "safa", "r2sp", "fl-r2sp"])]
    sync: Vec<String>,
    /// With r2sp and fl-r2sp: relaxation r of the gap r T/N or r T/M; with r2sp also `auto`.
    ///
    /// [default: 0.8 with r2sp, 1 with fl-r2sp].
    #[arg(long, value_name = "R")]
    relaxation: Option<String>,
    /// With safa and fl-r2sp: fraction of the workers or of the group to wait for [default: 0.75].
    #[arg(long, value_name = "C")]
    fraction: Option<f64>,
    #[command(flatten)]
    order: WorkerArgs,
    #[command(flatten)]
    clients: ClientArgs,
    #[command(flatten)]
    learner: LearnerArgs,
    /// With clients: exclude updates with a lower cosine similarity to their group's mean.
    ///
    /// A client is excluded after three such rounds [default without a value: 0.5, as in the R²SP paper].
    #[arg(long, value_name = "COSINE", num_args = 0..=1, require_equals = true, default_missing_value = "0.5",
        value_parser = cosine, allow_hyphen_values = true)]
    outliers: Option<f64>,
    /// With clients: names of clients that send negated updates (simulates malicious clients).
    #[arg(long = "sign-flip", value_name = "NAME", value_delimiter = ',')]
    opposite: Vec<String>,
    /// Factor on the network's rates, such as 1/500; compute times and delays scale along.
    ///
    /// Printed times are at the network's own rates [default: the server's port carries at most 50 Mbps].
    #[arg(long)]
    scale: Option<Scale>,
    /// Images per worker and iteration; the compute time stays that of the document's batch.
    #[arg(long, default_value_t = 16, value_parser = batch::<u32>())]
    batch: u32,
    /// Data type of values in messages; float16 rounds them, both ways.
    #[arg(long, value_enum, default_value_t, value_name = "TYPE")]
    dtype: Dtype,
    /// Transport: quic (routed networks) or frames (Ethernet, one network).
    #[arg(long, default_value = "quic", value_parser = ["quic", "frames"])]
    transport: String,
    /// Congestion control of QUIC connections: bbr (fair at one port) or cubic [default: bbr].
    #[arg(long, value_parser = ["cubic", "bbr"])]
    congestion: Option<String>,
    /// Share of frames that each worker's link drops in either direction, such as 0.1%.
    #[arg(long, default_value = "0")]
    drop: DropRate,
    /// Kill a process for a while, such as w3=2s..6s, or for good, such as w3=2s..
    ///
    /// Repeat for further processes. A killed server (s1=3s..4s) resumes from its checkpoint. Times count
    /// from the first pull, are the emulation's, and --scale does not change them.
    #[arg(long, value_name = "NAME=FROM..UNTIL")]
    absent: Vec<Absent>,
    /// Fault schedule whose `crash` events kill processes and restart them after `duration`.
    ///
    /// Times are as with --absent, which adds such events.
    #[arg(long, value_name = "FILE")]
    faults: Option<PathBuf>,
    /// Evict a worker or client after this long without a push or a request, such as 3s.
    ///
    /// Times are the emulation's. Without the flag, a worker is evicted after 10 s without a connection.
    #[arg(long = "push-timeout", value_name = "TIME", value_parser = seconds)]
    patience: Option<f64>,
    /// Random seed of data, weights and compute times.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// SVG file for a chart of accuracy over time and of staleness.
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
}

/// Default number of iterations.
const ITERATIONS: u32 = 30;
/// Default number of rounds of each group.
const ROUNDS: u32 = 12;
const MOST_ITERATIONS: u32 = 100_000;

impl OnNetwork for Args {
    type Network = Switched;
    const SECTION: &'static Section = &SERVERS;

    fn run(self, network: Switched, invocation: &Invocation) -> anyhow::Result<ExitCode> {
        run(&self, &network, invocation)
    }
}

fn run(args: &Args, network: &Switched, invocation: &Invocation) -> anyhow::Result<ExitCode> {
    let json = invocation.json;
    args.no_plan.refuse(false)?;
    let cluster = network.training().with_context(|| invocation.path.display().to_string())?;
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

/// Returns the job's only server.
fn server_of(topology: &Topology, job: &str) -> anyhow::Result<String> {
    let servers = topology.jobs().iter().find(|other| other.name == job).map(|job| job.servers.as_slice());
    match servers {
        Some([server]) => Ok(topology.node(*server).name.clone()),
        _ => anyhow::bail!("job {job}: `inart emulate` runs one server; list one in `servers`"),
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
                "--absent {name}: no worker trains without the server; give the time of its restart, like 10s..12s"
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

    /// Returns the number of iterations or rounds.
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

    /// Returns how clients train; `None` for a job of workers.
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
                Order::Workers(order.sync_model(&common)?)
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
