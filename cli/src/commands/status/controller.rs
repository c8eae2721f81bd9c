//! The status of a running controller, for people.

use inart_controller::api::proto;
use inart_topologies::units::{counted, display_rate};

/// Switches that a line names before it counts the others.
const NAMED: usize = 4;

/// Returns the first of some names, and how many more there are.
fn some_of(names: &[String]) -> String {
    match names.split_at_checked(NAMED) {
        _ if names.is_empty() => "no switch".to_owned(),
        Some((first, rest)) if !rest.is_empty() => format!("{} and {} more", first.join(", "), rest.len()),
        _ => names.join(", "),
    }
}

/// Returns a time in its largest unit.
fn lasting(ms: u64) -> String {
    let seconds = ms / 1000;
    match (seconds, seconds / 60, seconds / 3600) {
        (0..100, ..) => format!("{seconds} s"),
        (_, 0..100, _) => format!("{} min", seconds / 60),
        (.., hours @ 0..48) => format!("{hours} h"),
        (.., hours) => format!("{} days", hours / 24),
    }
}

/// Whether a job's hosts are peers.
fn is_of_peers(job: &proto::JobStatus) -> bool {
    job.kind == inart_controller::JobKind::Peers.to_string()
}

/// Returns a job's rate, or its number of peers.
fn size(job: &proto::JobStatus) -> String {
    match is_of_peers(job) {
        true => counted(job.peers, "peer"),
        false => format!("{:.3} Gbps", job.rate_bps / 1e9),
    }
}

/// Returns the jobs, one per line.
pub fn jobs(status: &proto::Status) -> String {
    if status.jobs.is_empty() {
        return format!("topology {}: no jobs\n", status.topology);
    }
    let row = |job: &proto::JobStatus| {
        let rate = || inart_emulator::aggregation::si::si(job.rate_bps, "bps");
        let (rate, hosts) = match (is_of_peers(job), &job.rendezvous) {
            (true, _) => ("-".to_owned(), size(job)),
            (false, Some(rendezvous)) => (rate(), gathered(rendezvous)),
            (false, None) => (rate(), "of a fixed number".to_owned()),
        };
        let (number, plan_version) = (job.job.to_string(), job.plan_version.to_string());
        let (since, switches) = (lasting(job.active_ms_ago), some_of(&job.switches));
        [job.name.clone(), job.kind.clone(), number, plan_version, since, switches, rate, hosts]
    };
    let head =
        ["job", "kind", "number", "plan version", "for", "switches", "rate", "hosts"].map(str::to_owned);
    let rows: Vec<_> = [head].into_iter().chain(status.jobs.iter().map(row)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: Vec<_> = (0..rows[0].len()).map(width).collect();
    let line = |row: &[String; 8]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}  "));
        cells.collect::<String>().trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

/// Participants of an elastic job.
fn gathered(rendezvous: &proto::Rendezvous) -> String {
    let member = |member: &proto::Member| match &member.state[..] {
        "running" => format!("{} ({})", member.host, member.role),
        state => format!("{} ({}, {state})", member.host, member.role),
    };
    let members: Vec<_> = rendezvous.members.iter().map(member).collect();
    let mut out = rendezvous.phase.clone();
    if !members.is_empty() {
        out += &format!("; members: {}", members.join(", "));
    }
    if !rendezvous.waiting.is_empty() {
        out += &format!("; waiting: {}", rendezvous.waiting.join(", "));
    }
    out
}

/// Returns a controller's status as text.
pub fn text(status: &proto::Status) -> String {
    let away = status.switches.iter().filter(|switch| !switch.connected).map(|switch| &switch.name[..]);
    let away: Vec<_> = away.collect();
    let mut out = match (status.installed, &away[..]) {
        (true, []) => format!("topology {}: all plans are installed\n", status.topology),
        (true, away) => {
            format!(
                "topology {}: the plans are installed; no connection to {}\n",
                status.topology,
                away.join(", ")
            )
        }
        (false, _) => format!("topology {}: the plans are not installed yet\n", status.topology),
    };
    for job in &status.jobs {
        out +=
            &format!("  job {} ({}): plan version {}, {}, ", job.name, job.kind, job.plan_version, size(job));
        out += &format!("on {} for {}\n", some_of(&job.switches), lasting(job.active_ms_ago));
        if let Some(rendezvous) = &job.rendezvous {
            out += &format!("    {}\n", gathered(rendezvous));
        }
    }
    let width = status.switches.iter().map(|switch| switch.name.len()).max().unwrap_or(0).max(6);
    out += &format!("  {:width$}  session  lost  reloaded  repaired  in order\n", "switch");
    for switch in &status.switches {
        let since = match (&switch.problem[..], switch.reconciled_ms_ago) {
            ("", Some(ago)) => format!("{:.1} s ago", ago as f64 / 1e3),
            ("", None) => "not yet".to_owned(),
            (problem, _) => problem.to_owned(),
        };
        let session = if switch.connected { "open" } else { "none" };
        out += &format!(
            "  {:width$}  {session:7}  {:4}  {:8}  {:6}  {since}\n",
            switch.name, switch.sessions_lost, switch.pipelines_set, switch.updates_repaired
        );
    }
    if let Some(network) = &status.network {
        network.failed.iter().for_each(|part| out += &format!("  {part} has failed\n"));
        for background in &network.background {
            out += &format!("  others use {} of {}\n", display_rate(background.bps), background.resource);
        }
        network.stragglers.iter().for_each(|late| out += &format!("  {}: {}\n", late.host, late.why));
    }
    for change in &status.changes {
        out += &format!("  {}\n", crate::commands::apply::aggregation::change_line(change));
    }
    out
}
