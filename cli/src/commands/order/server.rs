//! `inart order-server`: a parameter server that workers meet in an order.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::ensure;
use inart_emulator::clock::monotonic_ns;
use inart_emulator::wide_area::digest;
use inart_order::{Batch, Options, Policy, WorkerNo};
use inart_order_agent::{InOrder, Precision, Sequencer, ServerCounters, ServerOutput};
use inart_order_host::{Job, KeptFile, ServerHost, ServerOptions, Told};
use inart_trainer::{Config, PARAMETERS, Stepper};
use serde_json::{Value, json};

use super::common::Common;
use super::connections::Connections;
use super::workers::WorkerArgs;
use crate::commands::peers::{place, print_line};
use crate::commands::sites::seconds;

/// Arguments of `inart order-server`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    connections: Connections,
    /// Where a worker is, as NAME=HOST:PORT: each one of the job.
    #[arg(long = "worker", value_name = "NAME=HOST:PORT", value_parser = place, required = true)]
    workers: Vec<(String, SocketAddr)>,
    /// The order: bsp, asp, ssp, safa or r2sp.
    #[arg(long, value_parser = ["bsp", "asp", "ssp", "safa", "r2sp"])]
    sync: String,
    /// With r2sp, r: the gap is r T/N; or auto [default: 0.8].
    #[arg(long, value_name = "R")]
    relaxation: Option<String>,
    /// With safa: the part of the workers that is waited for [default: 0.75].
    #[arg(long, value_name = "C")]
    fraction: Option<f64>,
    #[command(flatten)]
    order: WorkerArgs,
    /// Send values as float16, rounded, both ways.
    #[arg(long)]
    half: bool,
    /// How long to wait for a worker's push before it is given up, such as 30s; for ever unless told.
    #[arg(long, value_name = "TIME")]
    patience: Option<String>,
    /// A worker without a connection for so long is given up.
    #[arg(long, value_name = "TIME", default_value = "10s")]
    absence: String,
    /// How long to wait for all workers before it begins with those that are there.
    #[arg(long, value_name = "TIME", default_value = "60s")]
    gather: String,
    /// Keep each version of the model in this file, and go on from it if it is there.
    #[arg(long, value_name = "FILE")]
    keep: Option<PathBuf>,
}

fn time(flag: &str, text: &str) -> anyhow::Result<Duration> {
    let seconds = seconds(text)
        .map_err(|_| anyhow::anyhow!("{flag} {text}: give a time above 0 with its unit, like 30 s"))?;
    Ok(Duration::from_secs_f64(seconds))
}

/// Runs `inart order-server`.
pub fn run(args: &Args, json: bool) -> anyhow::Result<ExitCode> {
    let (cluster, job) = args.connections.read(&args.connections.name)?;
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
    let policy = args.order.policy(&common)?;
    let patience = args.patience.as_deref().map(|text| time("--patience", text)).transpose()?;
    let batches = cluster.participants.iter().map(|worker| Batch::new(worker.batch, worker.speed)).collect();
    let options = Options { batches, tuning: args.order.tuning(), patience };
    let workers = job.workers.len();
    let mut stepper = Stepper::new(Config { seed: common.seed, rank: 0, workers, batch: 1 }, 0.0)?;
    let file = args.keep.as_ref().map(|path| KeptFile::new(path, job.fingerprint()));
    let kept = file.as_ref().map(KeptFile::read).transpose().map_err(anyhow::Error::from)?.flatten();
    let sequencer = match kept {
        Some(kept) => {
            ensure!(
                kept.values.len() == job.values && kept.done.len() == workers,
                "--keep: the file's model or workers are others; remove it to begin anew"
            );
            tracing::info!("goes on from version {}", kept.version);
            InOrder::restored(policy, options, job.fingerprint(), kept)
        }
        None => InOrder::new(policy, options, job.fingerprint(), stepper.first_model()),
    };
    let server = ServerOptions {
        precision: if args.half { Precision::Half } else { Precision::Single },
        rates_bps: cluster
            .participants
            .iter()
            .map(|worker| args.connections.rate_bps(worker.nic.in_bps))
            .collect(),
        gather: time("--gather", &args.gather)?,
        absence: time("--absence", &args.absence)?,
        iterations: args.order.iterations().map(u64::from),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (mut printed, names) = (Ok(()), job.clone());
    let ended = runtime.block_on(async {
        let options = args.connections.options("--worker", &args.workers)?;
        let host = ServerHost::open(&job, sequencer, server, file, options)?;
        let ended = host.run(|told| {
            if let Some(line) = said(&told, &names, json)
                && printed.is_ok()
            {
                printed = print_line(&line);
            }
        });
        anyhow::Ok(ended.await?)
    });
    let (counters, connections, sequencer) = ended?;
    printed?;
    let accuracy = stepper.evaluate(sequencer.values()).accuracy;
    print_line(&last(accuracy, &sequencer, &counters, &connections, json))?;
    Ok(ExitCode::SUCCESS)
}

/// What is printed in the end.
fn last(
    accuracy: f64,
    sequencer: &InOrder<Policy>,
    counters: &ServerCounters,
    connections: &inart_quic::Counters,
    json: bool,
) -> String {
    let (order, version) = (sequencer.server().counters(), sequencer.version());
    let refused = order.other_model + order.not_finite;
    let given_up = order.silent + counters.absent;
    let ServerCounters { repeated, unasked, malformed, other_life, pulls_repeated, .. } = counters;
    let dropped = repeated + unasked + malformed + other_life + pulls_repeated + counters.not_permitted;
    if json {
        return json!({
            "version": version, "accuracy": accuracy, "applied_updates": order.applied, "refused": refused,
            "given_up": given_up, "relaxation": sequencer.server().relaxation().as_f64(), "dropped": dropped,
            "repeated": repeated, "unasked": unasked, "malformed": malformed, "other_life": other_life,
            "other_model": counters.other_model, "strangers": connections.strangers + connections.refused,
        })
        .to_string();
    }
    format!(
        "accuracy {:.1}%; version {version}, {} updates applied, {refused} refused, {given_up} workers given up, \
         {dropped} packets dropped",
        accuracy * 100.0,
        order.applied
    )
}

/// What is printed of it.
fn said(told: &Told, job: &Job, json: bool) -> Option<String> {
    let at_ns = monotonic_ns();
    let name = |worker: &WorkerNo| job.workers.get(worker.index()).map_or("", String::as_str);
    let line: Value = match told {
        Told::Applied { applied, model } => {
            let updates = applied.updates.iter().map(|update| {
                json!({
                    "worker": name(&update.worker), "iteration": update.iteration,
                    "staleness": update.staleness, "scale": update.scale(),
                })
            });
            let model = model.as_ref().map(|model| digest(model));
            let updates: Vec<_> = updates.collect();
            json!({ "applied": applied.version, "model": model, "updates": updates, "at_ns": at_ns })
        }
        Told::Output(ServerOutput::Pushed { worker, iteration, base, values, refusal }) => {
            if let Some(refusal) = refusal {
                tracing::warn!("{}, iteration {iteration}: {refusal}", name(worker));
            }
            json!({
                "pushed": digest(values), "worker": name(worker), "iteration": iteration, "base": base,
                "refusal": refusal.map(|refusal| refusal.to_string()), "at_ns": at_ns,
            })
        }
        Told::Output(ServerOutput::Pulls { worker, version }) => {
            json!({ "pulls": name(worker), "version": version, "at_ns": at_ns })
        }
        Told::Output(ServerOutput::Joined { worker }) => json!({ "joined": name(worker), "at_ns": at_ns }),
        Told::Output(ServerOutput::Gone { worker }) => {
            tracing::warn!("{} is given up; it may come back", name(worker));
            json!({ "gone": name(worker), "at_ns": at_ns })
        }
        Told::Output(ServerOutput::NotTakenIn { worker, why }) => {
            tracing::warn!("{} is not taken in: {why}", name(worker));
            json!({ "not_taken_in": name(worker), "why": why })
        }
        Told::Output(ServerOutput::Discarded { worker, iteration, refusal }) => {
            json!({ "discarded": name(worker), "iteration": iteration, "why": refusal.to_string() })
        }
        Told::Output(_) => return None,
    };
    match (json, told) {
        (true, _) => Some(line.to_string()),
        (false, Told::Output(ServerOutput::Joined { worker })) => {
            Some(format!("{} takes part", name(worker)))
        }
        (false, Told::Applied { applied, .. })
            if applied.version.is_multiple_of(job.workers.len() as u64) =>
        {
            Some(format!("version {}", applied.version))
        }
        _ => None,
    }
}
