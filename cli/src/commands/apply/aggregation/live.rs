//! `inart apply --controller`: a running controller migrates running jobs to other plans.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use inart_controller::api::proto::{ChangeStage, ChangeStatus};
use inart_controller::api::{Client, ClientError};
use inart_tls::Security;
use inart_topologies::switched::Topology;
use inart_topologies::units::counted;

/// Time between requests for the status of a change.
const INTERVAL: Duration = Duration::from_millis(20);

/// Sends the plans to the controller, one after the other, and waits until each is active.
pub async fn push(
    topology: &Topology,
    file: &Path,
    address: &str,
    security: &Security,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let plans = crate::commands::plan::aggregation::read_all(topology, file)?;
    let controller = Client::connect(address, security).await.context("--controller")?;
    let (mut changes, mut lines) = (Vec::new(), Vec::new());
    for plan in plans {
        let number = controller.update_plan(plan.to_json()).await.context("--controller")?;
        let change = ended(&controller, number).await.context("--controller")?;
        lines.push(line(&change));
        // Earlier plans are active.
        match change.stage() {
            ChangeStage::Done => changes.push(document(&change)),
            ChangeStage::Undone => bail!("{}; the previous plan is active", lines.join("; ")),
            _ => bail!("{}", lines.join("; ")),
        }
    }
    let text = match json {
        true => serde_json::json!({ "changes": changes }).to_string(),
        false => lines.join("\n"),
    };
    crate::commands::output::print(&(text + "\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// Waits for the end of a change, and returns the change.
pub async fn ended(controller: &Client, number: u32) -> Result<ChangeStatus, ClientError> {
    loop {
        let status = controller.status().await?;
        let change = status.changes.into_iter().find(|change| change.number == number);
        let change = change.unwrap_or_default();
        let has_ended = matches!(
            change.stage(),
            ChangeStage::Unspecified | ChangeStage::Done | ChangeStage::Undone | ChangeStage::Refused
        );
        if has_ended {
            return Ok(change);
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

/// Returns a change in one line.
pub fn line(change: &ChangeStatus) -> String {
    let ChangeStatus { number, job, from, to, problem, hosts, confirmed, .. } = change;
    let ms = |microseconds: u64| microseconds as f64 / 1e3;
    let way = match (from, to) {
        (_, 0) => String::new(),
        (from, to) => format!(" from plan version {from} to {to}"),
    };
    let what = match change.stage() {
        ChangeStage::Waiting => format!("waits; {confirmed} of {} follow", counted(*hosts, "host")),
        ChangeStage::Writing => "the new tables are being written".to_owned(),
        ChangeStage::Migrating => format!("{confirmed} of {} moved", counted(*hosts, "host")),
        ChangeStage::Closing => {
            format!("all {hosts} hosts have moved, the previous plan version is being removed")
        }
        ChangeStage::Undoing => {
            format!("is being undone, {confirmed} of {} moved back", counted(*hosts, "host"))
        }
        ChangeStage::Done => format!(
            "done: {} written in {:.1} ms, {} {} in {:.1} ms, {} to remove the previous plan version; {:.1} ms in all",
            counted(change.updates_written, "update"),
            ms(change.installed_us),
            counted(*hosts, "host"),
            if change.coordinated { "led to the new plan" } else { "moved" },
            ms(change.migrated_us),
            counted(change.updates_removed, "update"),
            ms(change.total_us)
        ),
        ChangeStage::Undone => format!("undone after {:.1} ms: {problem}", ms(change.total_us)),
        ChangeStage::Refused => format!("refused: {problem}"),
        ChangeStage::Unspecified => "the controller knows nothing of it: it was started again".to_owned(),
    };
    format!("change {number} of job {job}{way}: {what}")
}

/// Returns a change as JSON.
pub fn document(change: &ChangeStatus) -> serde_json::Value {
    let seconds = |microseconds: u64| microseconds as f64 / 1e6;
    serde_json::json!({
        "job": change.job,
        "from": change.from,
        "to": change.to,
        "hosts": change.hosts,
        "coordinated": change.coordinated,
        "updates_written": change.updates_written,
        "updates_removed": change.updates_removed,
        "installed_seconds": seconds(change.installed_us),
        "migrated_seconds": seconds(change.migrated_us),
        "seconds": seconds(change.total_us),
    })
}
