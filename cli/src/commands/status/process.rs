//! The status of a host, a scheduler or a coordinator at its status socket.

use std::fmt::Write as _;

use anyhow::{Context, anyhow};
use inart_host_agent::status::{AnyStatus, ProcessStatus, StatusReport, ask};

use crate::commands::doctor::answers::{TIMEOUT, as_process, silence};

/// Asks the process whose status socket has this address. Returns its status as text, or as JSON.
///
/// # Errors
/// No process answers there.
pub fn status(address: &str, json: bool) -> anyhow::Result<String> {
    let report: Option<StatusReport<AnyStatus>> = ask(address, TIMEOUT)
        .map_err(|error| anyhow!("{}; start the process with --status {address}", silence(&error)))
        .with_context(|| format!("--socket {address}"))?;
    if json {
        return Ok(serde_json::to_string(&report)? + "\n");
    }
    let status = report.as_ref().and_then(|report| {
        let process = as_process(report, true, report.age_seconds)?;
        Some(text(&process, report))
    });
    Ok(status.unwrap_or_else(|| "the process has not started its work yet\n".to_owned()))
}

/// Status of a process, with one line per process that it waits for.
fn text(process: &ProcessStatus, report: &StatusReport<AnyStatus>) -> String {
    let ProcessStatus { name, role, progress, waits, computing_seconds, .. } = process;
    let mut out = format!("{role} {name}: progress {progress} ({:.1} s ago)\n", report.age_seconds);
    for wait in waits {
        let _ = writeln!(out, "  has waited {:.1} s for {}: {}", wait.seconds, wait.on, wait.why);
    }
    if let Some(seconds) = computing_seconds {
        let _ = writeln!(out, "  has been computing for {seconds:.1} s");
    }
    if let Some(interface) = &report.interface {
        let carrier = if interface.carrier { "up" } else { "no carrier" };
        let _ = writeln!(out, "  interface {}: {carrier}", interface.name);
    }
    out
}

#[cfg(test)]
mod tests {
    use inart_host_agent::status::{InterfaceStatus, ProcessWait};

    use super::*;

    #[test]
    fn a_status_lists_the_processes_that_are_awaited() {
        let wait = ProcessWait {
            on: "n2".into(),
            why: "no chunks of round 7".into(),
            seconds: 3.25,
            disconnected: false,
        };
        let process = ProcessStatus {
            name: "n1".into(),
            role: "site".into(),
            progress: 6,
            waits: vec![wait],
            computing_seconds: None,
            inside: Vec::new(),
        };
        let report = StatusReport {
            age_seconds: 0.04,
            interface: Some(InterfaceStatus { name: "n1".into(), carrier: false, mtu: None }),
            status: AnyStatus::Process(process.clone()),
        };
        assert_eq!(
            text(&process, &report),
            "site n1: progress 6 (0.0 s ago)\n  has waited 3.2 s for n2: no chunks of round 7\n  \
             interface n1: no carrier\n"
        );
        let computing = ProcessStatus { waits: Vec::new(), computing_seconds: Some(1.5), ..process };
        let report = StatusReport { interface: None, ..report };
        assert_eq!(
            text(&computing, &report),
            "site n1: progress 6 (0.0 s ago)\n  has been computing for 1.5 s\n"
        );
    }
}
