//! `inart jobs`: the jobs of a running controller.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use inart_controller::api::Client;
use inart_controller::api::proto::{ChangeStage, ChangeStatus, JobStatus, Status};
use inart_topologies::units::counted;

use crate::commands::apply::aggregation::{change_document, change_ended};
use crate::commands::security::ClientArgs;

/// Arguments of `inart jobs`.
#[derive(clap::Args)]
pub struct Args {
    /// Address of the controller: HOST:PORT or unix:/path.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9558", global = true)]
    controller: String,
    #[command(flatten)]
    client: ClientArgs,
    /// Action [default: list].
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(clap::Subcommand)]
enum Action {
    /// List the jobs on the controller's switches: kind, plan version, switches, and for how long.
    List,
    /// Plan and install a job next to the running ones.
    ///
    /// Running jobs keep their routes and shares; their rates fall to the fair ones.
    Submit {
        /// Controller's topology with the new job at the end of its list (YAML or JSON).
        topology: PathBuf,
        /// Name of the new job [default: the only one that is not running].
        job: Option<String>,
        /// Chunks in flight per worker and shard: a power of two [default: as the running jobs].
        #[arg(long, value_name = "CHUNKS", value_parser = crate::commands::apply::aggregation::parse_window)]
        window: Option<u32>,
    },
    /// Pause an elastic job until it is resumed; its hosts wait.
    Pause {
        /// Name of the job.
        job: String,
    },
    /// Resume a paused job.
    Resume {
        /// Name of the job.
        job: String,
    },
    /// Delete a job from the switches; other jobs may use its slots and rates.
    Delete {
        /// Name of the job.
        job: String,
        /// Delete a job whose hosts are running; they exit with an error.
        #[arg(long)]
        force: bool,
    },
}

/// Runs the command.
pub fn run(args: Args, json: bool) -> anyhow::Result<ExitCode> {
    let security = args.client.security()?;
    let text = crate::commands::control::block_on(async {
        let controller = Client::connect(&args.controller, &security).await.context("--controller")?;
        match args.action.unwrap_or(Action::List) {
            Action::List => Ok(list(&controller.status().await?, json)?),
            Action::Submit { topology, job, window } => {
                let read = crate::commands::topology::read(&topology)?;
                let job = match job {
                    Some(job) => job,
                    None => only_new(&read, &controller.status().await?)?,
                };
                let number = controller.create_job(read.to_yaml(), &job, window).await?;
                ended(&controller, number, json).await
            }
            Action::Pause { job } => {
                controller.pause_job(&job).await?;
                Ok(said(&job, "pauses at the next stop point", "paused", json))
            }
            Action::Resume { job } => {
                controller.resume_job(&job).await?;
                Ok(said(&job, "resumes", "resumed", json))
            }
            Action::Delete { job, force } => {
                let number = controller.delete_job(&job, force).await?;
                ended(&controller, number, json).await
            }
        }
    })?;
    crate::commands::output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the only job of the document that the controller does not run.
fn only_new(topology: &inart_topologies::switched::Topology, status: &Status) -> anyhow::Result<String> {
    let runs = |name: &str| status.jobs.iter().any(|job| job.name == name);
    let new: Vec<_> =
        topology.jobs().iter().map(|job| job.name.as_str()).filter(|name| !runs(name)).collect();
    match new[..] {
        [job] => Ok(job.to_owned()),
        [] => {
            bail!("JOB: the controller runs every job of the document: add the new one to its list of jobs")
        }
        _ => bail!("JOB: the controller does not run {}: name one of them", new.join(", ")),
    }
}

/// Waits for the end of a submission or a deletion, and returns its report.
async fn ended(controller: &Client, number: u32, json: bool) -> anyhow::Result<String> {
    let change: ChangeStatus = change_ended(controller, number).await?;
    if change.stage() != ChangeStage::Done {
        let what =
            if change.problem.is_empty() { "the controller knows nothing of it" } else { &change.problem };
        bail!("job {}: {what}", change.job);
    }
    let status = controller.status().await?;
    if json {
        let mut document = change_document(&change);
        document["jobs"] = status.jobs.iter().map(rate).collect();
        return Ok(format!("{document}\n"));
    }
    let ms = change.total_us as f64 / 1e3;
    let updates = counted(change.updates_written + change.updates_removed, "update");
    Ok(format!("job {}: done in {ms:.1} ms, {updates}\n{}", change.job, list(&status, false)?))
}

fn rate(job: &JobStatus) -> serde_json::Value {
    serde_json::json!({ "job": job.name, "number": job.job, "plan_version": job.plan_version, "rate_bps": job.rate_bps })
}

fn said(job: &str, words: &str, state: &str, json: bool) -> String {
    match json {
        true => serde_json::json!({ "job": job, "state": state }).to_string() + "\n",
        false => format!("job {job} {words}\n"),
    }
}

/// Returns the jobs, one per line or as a document.
fn list(status: &Status, json: bool) -> anyhow::Result<String> {
    match json {
        true => Ok(serde_json::to_string(&serde_json::json!({ "jobs": status.jobs }))? + "\n"),
        false => Ok(crate::commands::status::controller::jobs(status)),
    }
}
