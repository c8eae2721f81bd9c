//! The process of a parameter server with BSP, ASP, SSP, SAFA or R²SP synchronization.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, ensure};
use inart_host_agent::StopSignal;
use inart_protocol_ps::{Batch, GroupOptions, Options, OutlierRule, WorkerNo, fraction_of, relaxation_of};
use inart_ps_agent::{Checkpoint, InGroups, InOrder, Sequencer, ServerReport};
use inart_ps_host::{
    CheckpointFile, Job, ServerEvent, ServerHost, ServerOptions, TrainingCheckpoint, new_training,
};
use inart_report::{Applied, AppliedUpdate, Line, Pushed, digest, monotonic_ns};
use inart_terms::Terms;
use inart_topologies::Switched;
use inart_topologies::ps::{Job as ClusterJob, Kind};
use inart_topologies::switched::Topology;
use inart_training::{Config, PARAMETERS, Stepper};

use crate::commands::host::ps::connections::{Connections, ProcessAddress};
use crate::commands::host::ps::ended::{Ended, Host, Resumed};
use crate::commands::host::ps::learner::shared_terms;
use crate::commands::host::role::PS_SERVER;
use crate::commands::output::{print_event, print_line};
use crate::commands::ps::clients::{ClientArgs, cosine};
use crate::commands::ps::common::{Common, refuse};
use crate::commands::ps::dtype::Dtype;
use crate::commands::ps::workers::WorkerArgs;
use crate::commands::status_socket::StatusArgs;
use crate::commands::values::duration;
use crate::line::section::Section;
use crate::line::{Invocation, OnNetwork};

/// Arguments of `inart host` for a parameter server.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    connections: Connections,
    /// Address of a worker or client, for each one of the job.
    ///
    /// NAME=HOST:PORT, or NAME=MAC with --interface.
    #[arg(long = "worker", value_name = "NAME=ADDRESS", required = true)]
    workers: Vec<ProcessAddress>,
    /// Synchronization: bsp, asp, ssp, safa or r2sp; with clients: bsp or fl-r2sp.
    #[arg(long, value_parser = ["bsp", "asp", "ssp", "safa", "r2sp", "fl-r2sp"])]
    sync: String,
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
    /// With clients: exclude updates with a lower cosine similarity to their group's mean.
    ///
    /// A client is excluded after three such rounds [default without a value: 0.5, as in the R²SP paper].
    #[arg(long, value_name = "COSINE", num_args = 0..=1, require_equals = true, default_missing_value = "0.5",
        value_parser = cosine, allow_hyphen_values = true)]
    outliers: Option<f64>,
    /// Data type of values in messages; float16 rounds them, both ways.
    #[arg(long, value_enum, default_value_t, value_name = "TYPE")]
    dtype: Dtype,
    /// Evict a worker after this long without its push; exit after this long without workers.
    #[arg(long = "push-timeout", value_name = "TIME", default_value = "600s", value_parser = duration)]
    patience: Duration,
    /// Remove a worker after it has been disconnected for this long.
    #[arg(long = "reconnect-grace", value_name = "TIME", default_value = "10s", value_parser = duration)]
    absence: Duration,
    /// Start without missing participants after this long.
    #[arg(long = "join-timeout", value_name = "TIME", default_value = "60s", value_parser = duration)]
    gather: Duration,
    /// Checkpoint file: save each model version, and resume from the file if it exists.
    #[arg(long = "checkpoint", value_name = "FILE")]
    keep: Option<PathBuf>,
    #[command(flatten)]
    status: StatusArgs,
}

impl OnNetwork for Args {
    type Network = Switched;
    const SECTION: &'static Section = &PS_SERVER;

    fn run(self, network: Switched, invocation: &Invocation) -> anyhow::Result<ExitCode> {
        run(&self, &network, invocation)
    }
}

fn run(args: &Args, network: &Switched, invocation: &Invocation) -> anyhow::Result<ExitCode> {
    let json = invocation.json;
    let (cluster, job) = args.connections.read(network, &args.connections.name, invocation)?;
    let topology = &network.topology;
    ensure!(
        job.values == PARAMETERS,
        "job {}: its model has {} values and the one that is trained {PARAMETERS}; set gradient: {} B",
        job.name,
        job.values,
        4 * PARAMETERS
    );
    let common = Common {
        sync: &args.sync,
        relaxation: args.relaxation.as_deref(),
        fraction: args.fraction,
        patience_s: None,
        absent: &[],
        seed: args.connections.seed,
    };
    let stop = StopSignal::catch().context("catching signals")?;
    let patience = Some(args.patience);
    let workers = job.workers.len();
    let mut stepper = Stepper::new(Config { seed: common.seed, rank: 0, workers, batch: 1 }, 0.0)?;
    let first = stepper.first_model();
    let resumed;
    let ended = match cluster.kind {
        Kind::Workers => {
            ensure!(
                args.sync != "fl-r2sp",
                "--sync fl-r2sp: job {} has workers, and this is for clients; name `clients`, or take r2sp",
                job.name
            );
            args.clients.refused()?;
            refuse(args.outliers.is_some(), "outliers", "fl-r2sp")?;
            let sync_model = args.order.sync_model(&common)?;
            let batches =
                cluster.participants.iter().map(|worker| Batch::new(worker.batch, worker.speed)).collect();
            let options = Options { batches, tuning: args.order.tuning(), patience };
            let own = args.own_training(&cluster, &job, &first, args.order.flags())?;
            let sequencer = match own.kept.clone() {
                Some(kept) => InOrder::restored(sync_model, options, job.fingerprint(), kept),
                None => InOrder::new(sync_model, options, job.fingerprint(), first),
            };
            let rounds = args.order.iterations().map(u64::from);
            resumed = own.resumed.clone();
            let (sequencer, host) =
                args.serve(&cluster, (&job, topology), sequencer, own, (rounds, stop), json)?;
            Ended::in_order(&sequencer, host, stepper.evaluate(sequencer.values()).accuracy)
        }
        Kind::Clients => {
            let options = args.group_options(&cluster, &common, patience)?;
            let batches = cluster.participants.iter().map(|client| client.batch).collect();
            let own = args.own_training(&cluster, &job, &first, args.clients.flags())?;
            let sequencer = match own.kept.clone() {
                Some(kept) => InGroups::restored(options, batches, job.fingerprint(), kept)?,
                None => InGroups::new(options, batches, job.fingerprint(), first)?,
            };
            let rounds = args.clients.rounds()?.map(u64::from);
            resumed = own.resumed.clone();
            let (sequencer, host) =
                args.serve(&cluster, (&job, topology), sequencer, own, (rounds, stop), json)?;
            Ended::in_groups(&sequencer, host, &job, stepper.evaluate(sequencer.values()).accuracy)
        }
    };
    let ended = ended.resumed(resumed);
    if json {
        print_event(&ended.event())?
    } else {
        print_line(&ended.text())?
    }
    Ok(ExitCode::SUCCESS)
}

impl Args {
    /// Returns the training's number and terms, and the state from which it resumes if the file of
    /// `--checkpoint` exists.
    fn own_training(
        &self,
        cluster: &ClusterJob,
        job: &Job,
        first: &[f32],
        flags: Vec<String>,
    ) -> anyhow::Result<OwnTraining> {
        let of = |name: &str, value: Option<String>| value.map(|value| format!("--{name}={value}"));
        let order = [
            Some(self.sync.clone()),
            of("relaxation", self.relaxation.clone()),
            of("fraction", self.fraction.map(|fraction| fraction.to_string())),
            of("outliers", self.outliers.map(|outliers| outliers.to_string())),
            (self.dtype == Dtype::Float16).then(|| "--dtype float16".to_owned()),
        ];
        let order: Vec<_> = order.into_iter().flatten().chain(flags).collect();
        let mut more = shared_terms(cluster, self.connections.seed, first);
        more.push(("order", order.join(" ")));
        let terms = job.terms(&more)?;
        let new = |file| OwnTraining {
            number: new_training(),
            terms: terms.clone(),
            file,
            kept: None,
            resumed: None,
        };
        let Some(path) = &self.keep else { return Ok(new(None)) };
        let file = CheckpointFile::new(path, job.fingerprint()).with_terms(terms.clone());
        let Some(training) = file.read_training()? else { return Ok(new(Some(file))) };
        let TrainingCheckpoint { number, terms: kept_terms, kept } = training;
        ensure!(
            kept.values.len() == job.values && kept.done.len() == job.workers.len(),
            "--checkpoint {}: the file's model or workers are others; remove it to begin from the first weights",
            path.display()
        );
        let updates = kept.done.iter().fold(0, |all: u64, done| all.saturating_add(*done));
        let resumed = Some(Resumed { path: path.clone(), version: kept.version, updates });
        Ok(OwnTraining { number, terms: terms.and(&kept_terms), file: Some(file), kept: Some(kept), resumed })
    }

    fn group_options(
        &self,
        cluster: &ClusterJob,
        common: &Common<'_>,
        patience: Option<Duration>,
    ) -> anyhow::Result<GroupOptions> {
        ensure!(
            ["bsp", "fl-r2sp"].contains(&common.sync),
            "--sync {}: job {} has clients, and this is for workers; take fl-r2sp or bsp",
            common.sync,
            cluster.name
        );
        self.order.refused()?;
        let clients = cluster.participants.len();
        let shape = self.clients.shape(clients, common)?;
        let outliers = self.outliers.map(|threshold| OutlierRule { threshold, ..OutlierRule::default() });
        Ok(GroupOptions {
            clients,
            groups: shape.groups,
            fraction: fraction_of(shape.fraction)?,
            relaxation: relaxation_of(shape.relaxation)?,
            patience,
            outliers,
        })
    }

    /// Serves until the training is over. Returns the sequencer and the counters.
    fn serve<S: Sequencer + Clone>(
        &self,
        cluster: &ClusterJob,
        (job, topology): (&Job, &Topology),
        sequencer: S,
        own: OwnTraining,
        (iterations, stop): (Option<u64>, StopSignal),
        json: bool,
    ) -> anyhow::Result<(S, Host)> {
        let rates = cluster.participants.iter().map(|worker| self.connections.rate_bps(worker.nic.in_bps));
        let server = ServerOptions {
            precision: self.dtype.precision(),
            rates_bps: rates.collect(),
            gather: self.gather,
            absence: self.absence,
            iterations,
        };
        if let Some(resumed) = &own.resumed {
            if json { print_event(&resumed.event())? } else { print_line(&resumed.text())? }
        }
        let status = self.status.listen()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut printed = Ok(());
        let ended = runtime.block_on(async {
            let options = self.connections.options("--worker", &self.workers, (job, topology))?;
            let host = ServerHost::open(job, sequencer, server, own.file, options)?;
            let host = host.with_training(own.number, own.terms);
            let mut host = host.with_patience(self.patience).with_stop(stop);
            if let Some(socket) = status {
                host = host.with_status(socket);
            }
            let ended = host.run(|happened| {
                warn(&happened, job);
                if printed.is_err() {
                    return;
                }
                printed = match json {
                    true => event(&happened, job).map_or(Ok(()), |event| print_event(&event)),
                    false => sentence(&happened, job).map_or(Ok(()), |sentence| print_line(&sentence)),
                };
            });
            anyhow::Ok(ended.await?)
        });
        let (counters, connections, sequencer) = ended?;
        printed?;
        Ok((sequencer, (counters, connections)))
    }
}

/// Training of a server, and the checkpoint from which it resumes.
struct OwnTraining {
    number: u64,
    terms: Terms,
    file: Option<CheckpointFile>,
    kept: Option<Checkpoint>,
    resumed: Option<Resumed>,
}

fn name(job: &Job, worker: &WorkerNo) -> String {
    job.workers.get(worker.index()).cloned().unwrap_or_default()
}

/// Logs what an operator may have to look at.
fn warn(told: &ServerEvent, job: &Job) {
    let ServerEvent::Report(news) = told else { return };
    match news {
        ServerReport::Pushed { worker, iteration, refusal: Some(refusal), .. } => {
            tracing::warn!("{}, iteration {iteration}: {refusal}", name(job, worker));
        }
        ServerReport::Gone { worker } => tracing::warn!(
            "{} has been evicted: it has not pushed for --push-timeout, or was not connected for --reconnect-grace; it may rejoin",
            name(job, worker)
        ),
        ServerReport::Rejected { worker, why } => tracing::warn!("{} is refused: {why}", name(job, worker)),
        ServerReport::LeftOut { worker } => {
            tracing::warn!("{} is left out for its data", name(job, worker));
        }
        _ => {}
    }
}

/// Returns the event of a line, if it is one.
fn event(happened: &ServerEvent, job: &Job) -> Option<Line> {
    let at_ns = monotonic_ns();
    let name = |worker: &WorkerNo| name(job, worker);
    let news = match happened {
        ServerEvent::Applied { applied, model } => {
            let updates = applied.updates.iter().map(|update| AppliedUpdate {
                worker: name(&update.worker),
                iteration: update.iteration,
                staleness: update.staleness,
                scale: update.scale(),
            });
            let (updates, model) = (updates.collect(), model.as_ref().map(|model| digest(model)));
            return Some(Line::Applied(Applied { applied: applied.version, model, updates, at_ns }));
        }
        ServerEvent::Report(news) => news,
    };
    Some(match news {
        ServerReport::Pushed { worker, iteration, base, values, refusal } => Line::Pushed(Pushed {
            pushed: digest(values),
            worker: name(worker),
            iteration: *iteration,
            base: *base,
            refusal: refusal.map(|refusal| refusal.to_string()),
            at_ns,
        }),
        ServerReport::Pulls { worker, version } => {
            Line::Pulls { pulls: name(worker), version: *version, at_ns }
        }
        ServerReport::Joined { worker } => Line::Joined { joined: name(worker), at_ns },
        ServerReport::Gone { worker } => Line::Gone { gone: name(worker), at_ns },
        ServerReport::Rejected { worker, why } => Line::Rejected { name: name(worker), why: why.clone() },
        ServerReport::LeftOut { worker } => Line::LeavesOut { leaves_out: name(worker), at_ns },
        ServerReport::Discarded { worker, iteration, refusal } => {
            Line::Discarded { discarded: name(worker), iteration: *iteration, why: refusal.to_string() }
        }
        _ => return None,
    })
}

/// Returns the sentence for people, if there is one.
fn sentence(told: &ServerEvent, job: &Job) -> Option<String> {
    match told {
        ServerEvent::Report(ServerReport::Joined { worker }) => {
            Some(format!("{} takes part", name(job, worker)))
        }
        ServerEvent::Applied { applied, .. } if applied.version.is_multiple_of(job.workers.len() as u64) => {
            Some(format!("version {}", applied.version))
        }
        _ => None,
    }
}
