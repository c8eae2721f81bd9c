//! `inart remove`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use inart_controller::{Controller, HeldJob, JobKind, LISTEN, ValuesChoice, find_held};
use inart_targets::Session;
use inart_wire::JobId;

use crate::commands::control;
use crate::commands::control::{ControlArgs, Purpose, SwitchNetwork};

/// Arguments of `inart remove`.
#[derive(clap::Args)]
#[command(override_usage = "inart remove [OPTIONS] [JOB]... <TOPOLOGY>")]
pub struct Args {
    /// Jobs to remove (names or numbers), then the network (YAML or JSON).
    ///
    /// Without jobs, the command lists the jobs on the switches.
    #[arg(value_name = "TOPOLOGY", required = true)]
    jobs_and_topology: Vec<String>,
    /// List what would be removed, and remove nothing.
    #[arg(long)]
    dry_run: bool,
    /// Remove jobs even if their hosts run; running hosts exit with an error.
    #[arg(long)]
    force: bool,
    /// Values per frame of the switches' program, as for `inart apply`.
    #[arg(long, default_value_t = ValuesChoice::Auto)]
    values: ValuesChoice,
    #[command(flatten)]
    control: ControlArgs,
}

/// Runs the command.
pub fn run(args: Args, json: bool) -> anyhow::Result<ExitCode> {
    let (topology, jobs) = args.jobs_and_topology.split_last().context("TOPOLOGY is missing")?;
    let SwitchNetwork { topology, .. } = SwitchNetwork::read(Path::new(topology))?;
    let purpose = if jobs.is_empty() || args.dry_run { Purpose::Read } else { Purpose::Write };
    control::block_on(async {
        let mut controller = args.control.connect(topology, None, args.values, purpose).await?;
        let held = controller.held().await?;
        if jobs.is_empty() {
            crate::commands::output::print(&if json { json_list(&held) } else { list(&held) })?;
            return Ok(ExitCode::SUCCESS);
        }
        let found = jobs.iter().map(|asked| find_held(&held, asked)).collect::<Result<Vec<_>, _>>()?;
        let jobs: BTreeSet<JobId> = found.iter().map(|job| job.job).collect();
        if args.dry_run {
            let report = controller.preview_removal(&jobs).await?;
            let text = match json {
                true => control::lines_json(&controller, &[], &report),
                false => control::lines(&controller, &[], &report),
            };
            crate::commands::output::print(&text)?;
            return Ok(ExitCode::SUCCESS);
        }
        if !args.force {
            unused(&mut controller, &found).await?;
        }
        let report = controller.remove(&jobs).await?;
        let removed: Vec<_> = held.iter().filter(|job| jobs.contains(&job.job)).collect();
        let text = match json {
            true => {
                let mut document = control::document(&report);
                document["removed"] = removed.iter().map(|job| job.job.get()).collect::<Vec<_>>().into();
                format!("{document}\n")
            }
            false => {
                let lines = removed.iter().map(|job| format!("job {job}: removed and read back\n"));
                lines.collect::<String>() + &control::table(&report)
            }
        };
        crate::commands::output::print(&text)?;
        Ok(ExitCode::SUCCESS)
    })
}

/// Refuses jobs whose hosts may still run.
async fn unused(controller: &mut Controller<Box<dyn Session>>, jobs: &[&HeldJob]) -> anyhow::Result<()> {
    if let Some(job) = jobs.iter().find(|job| !job.claimed.is_empty()) {
        let (roles, live) = (&job.claimed, job.live.map_or(0, |plan_version| plan_version.get()));
        let shown: Vec<_> = roles.iter().take(3).map(String::as_str).collect();
        let more = if roles.len() > shown.len() { ", …" } else { "" };
        bail!(
            "job {job}: {}{more} ran under plan version {live} and may still run: stop them, then add --force",
            shown.join(", ")
        );
    }
    let moving = controller.moving(LISTEN).await.context("looking for frames of the jobs")?;
    if let Some(job) = jobs.iter().find(|job| moving.contains(&job.job)) {
        bail!("job {job}: its frames are on the way, so its hosts still run: stop them, or add --force");
    }
    Ok(())
}

/// Returns the jobs on the switches as a table.
fn list(held: &[HeldJob]) -> String {
    if held.is_empty() {
        return "the switches hold no job\n".to_owned();
    }
    let width = held.iter().filter_map(|job| Some(job.name.as_ref()?.len())).max().unwrap_or(0).max(4);
    let places: Vec<_> =
        held.iter().map(|job| job.switches.iter().cloned().collect::<Vec<_>>().join(", ")).collect();
    let wide = places.iter().map(String::len).max().unwrap_or(0).max(8);
    let mut out = format!(
        "  {:>5}  {:width$}  topology  {:11}  {:>5}  {:wide$}  slots\n",
        "job", "name", "kind", "plan_version", "switches"
    );
    for (job, place) in held.iter().zip(places) {
        let newest = job.live.or(job.plan_versions.last().copied());
        let slots: Vec<_> = job.slots.iter().map(|(switch, slots)| format!("{slots} on {switch}")).collect();
        let topology = match (job.kind, job.in_topology) {
            (JobKind::Peers, true) => "-",
            (_, true) => "has it",
            (_, false) => "has not",
        };
        let _ = writeln!(
            out,
            "  {:>5}  {:width$}  {topology:8}  {:11}  {:>5}  {:wide$}  {}",
            job.job.to_string(),
            job.name.as_deref().unwrap_or("?"),
            job.kind,
            newest.map_or_else(|| "?".to_owned(), |plan_version| plan_version.to_string()),
            if place.is_empty() { "none" } else { &place },
            if slots.is_empty() { "none".to_owned() } else { slots.join(", ") }
        );
    }
    out
}

fn json_list(held: &[HeldJob]) -> String {
    format!("{}\n", serde_json::json!({ "jobs": held }))
}
