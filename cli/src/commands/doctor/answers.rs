//! Answers of hosts and other processes at their status sockets.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use inart_controller::doctor::Hosts;
use inart_host_agent::status::{AnyStatus, ProcessStatus, ProcessWait, StatusReport, ask, awaited_workers};
use inart_protocol_aggregation::{ServerStatus, WorkerStatus};
use inart_wire::JobId;

use crate::commands::doctor::processes;

/// Longest time until a process answers.
pub const TIMEOUT: Duration = Duration::from_secs(1);

/// Answers of hosts, by name; a host that serves several jobs answers several times.
pub type Answers = Vec<(String, std::io::Result<Option<StatusReport<AnyStatus>>>)>;

/// Whether a host of an aggregated job has answered.
pub fn is_host(answer: &std::io::Result<Option<StatusReport<AnyStatus>>>) -> bool {
    let report = answer.as_ref().ok().and_then(Option::as_ref);
    report.is_some_and(|report| matches!(report.status, AnyStatus::Worker(_) | AnyStatus::Server(_)))
}

/// Describes why a host does not answer.
pub fn silence(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut => {
            format!("no answer within {TIMEOUT:?}")
        }
        _ => error.to_string(),
    }
}

/// Asks all hosts at once.
pub async fn ask_all(addresses: &[(String, String)]) -> Answers {
    let all = addresses.iter().map(async |(name, address)| {
        let address = address.clone();
        let answer = tokio::task::spawn_blocking(move || ask(&address, TIMEOUT)).await;
        (name.clone(), answer.unwrap_or_else(|error| Err(std::io::Error::other(error))))
    });
    futures::future::join_all(all).await
}

/// Returns the statuses of a process as the parameter server of aggregated jobs.
fn servers_of(status: &AnyStatus) -> &[ServerStatus] {
    match status {
        AnyStatus::Worker(_) => &[],
        AnyStatus::Server(status) => std::slice::from_ref(status),
        AnyStatus::Process(status) => &status.inside,
    }
}

/// Returns the jobs and hosts for which processes answer.
fn parts(heard: &Answers) -> BTreeSet<(JobId, String)> {
    let statuses = heard.iter().filter_map(|(_, answer)| Some(&answer.as_ref().ok()?.as_ref()?.status));
    let parts = statuses.flat_map(|status| {
        let worker = match status {
            AnyStatus::Worker(worker) => Some((worker.job, worker.name.clone())),
            AnyStatus::Server(_) | AnyStatus::Process(_) => None,
        };
        let servers = servers_of(status).iter().map(|server| (server.job, server.server.clone()));
        worker.into_iter().chain(servers)
    });
    parts.collect()
}

/// Sorts the answers of hosts by kind. Notes which shards made progress and which hosts started between the
/// two times.
pub fn hosts(before: &Answers, after: Answers) -> Hosts {
    let completed = |job, shard| {
        before.iter().find_map(|(_, answer)| {
            let mut servers = servers_of(&answer.as_ref().ok()?.as_ref()?.status).iter();
            Some(servers.find(|status| (status.job, status.shard) == (job, shard))?.completed)
        })
    };
    let (started, there) = (parts(&after), parts(before));
    let started = started.difference(&there).cloned().collect();
    let mut hosts = Hosts { started, ..Hosts::default() };
    for (name, answer) in after {
        let report = match answer {
            Ok(Some(report)) => report,
            Ok(None) => {
                hosts.beginning.insert(name);
                continue;
            }
            Err(error) => {
                hosts.silent.insert(name, silence(&error));
                continue;
            }
        };
        for status in servers_of(&report.status) {
            if completed(status.job, status.shard).is_some_and(|before| before < status.completed) {
                hosts.moving.insert((status.job, status.shard.get()));
            }
            hosts.servers.push((report.age_seconds, status.clone()));
        }
        match report.status {
            AnyStatus::Worker(status) => {
                if let Some(interface) = report.interface {
                    hosts.carriers.insert(status.name.clone(), interface.carrier);
                    hosts.mtus.extend(interface.mtu.map(|mtu| (status.name.clone(), mtu)));
                }
                hosts.workers.push((report.age_seconds, status));
            }
            AnyStatus::Process(status) if !status.waits.is_empty() => {
                let waits: Vec<_> =
                    status.waits.iter().map(|wait| format!("{} ({})", wait.on, wait.why)).collect();
                let waits = format!("waits for {}", waits.join(", "));
                let holding = status.inside.iter().map(|of| ((of.job, of.shard.get()), waits.clone()));
                hosts.holding.extend(holding);
            }
            AnyStatus::Server(_) | AnyStatus::Process(_) => {}
        }
    }
    hosts
}

/// Returns a worker's status as that of a process that waits for others. A worker outside a round is
/// computing: for at least `watched` seconds, if it made no progress in that time.
fn of_worker(status: &WorkerStatus, age: f64, watched: f64) -> ProcessStatus {
    let shards = status.shards.iter().filter(|shard| status.in_round && shard.in_flight > 0);
    let wait = |shard: &inart_protocol_aggregation::FlowStatus| {
        let seconds = shard.oldest.map_or(0.0, |oldest| oldest.sent_seconds);
        let why = match (shard.server_heard_seconds, shard.oldest) {
            (None, _) => "it has never answered".to_owned(),
            (Some(heard), Some(oldest)) => format!(
                "no result of chunk {}, sent {} times (last frame {:.0} s ago)",
                oldest.chunk,
                oldest.sends,
                heard + age
            ),
            (Some(heard), None) => format!("no result (last frame {:.0} s ago)", heard + age),
        };
        let disconnected = shard.server_heard_seconds.is_none();
        ProcessWait { on: shard.server.clone(), why, seconds: seconds + age, disconnected }
    };
    ProcessStatus {
        name: status.name.clone(),
        role: "worker".to_owned(),
        progress: status.counters.results + status.round.map_or(0, u64::from),
        waits: shards.map(wait).collect(),
        computing_seconds: (!status.in_round).then_some(watched),
        inside: Vec::new(),
    }
}

/// Returns a parameter server's status as that of a process that waits for workers.
fn of_server(status: &ServerStatus, age: f64) -> ProcessStatus {
    ProcessStatus {
        name: status.server.clone(),
        role: "server".to_owned(),
        progress: status.completed,
        waits: awaited_workers(status, &[], age),
        ..ProcessStatus::default()
    }
}

/// Returns the status of a process; `None` for hosts of aggregated jobs, unless `with_hosts`.
pub fn as_process(report: &StatusReport<AnyStatus>, with_hosts: bool, watched: f64) -> Option<ProcessStatus> {
    match &report.status {
        AnyStatus::Process(status) => Some(status.clone()),
        AnyStatus::Worker(status) if with_hosts => Some(of_worker(status, report.age_seconds, watched)),
        AnyStatus::Server(status) if with_hosts => Some(of_server(status, report.age_seconds)),
        AnyStatus::Worker(_) | AnyStatus::Server(_) => None,
    }
}

/// Compares the statuses of processes at two times that are `watched` seconds apart. Hosts of aggregated jobs
/// are included only `with_hosts`: callers that know their plan examine them in more detail.
pub fn processes(
    before: &Answers,
    after: &Answers,
    with_hosts: bool,
    watched: f64,
) -> BTreeMap<String, processes::Answer> {
    let statuses = |heard: &Answers| {
        let mut all: BTreeMap<String, ProcessStatus> = BTreeMap::new();
        for (name, answer) in heard {
            let report = answer.as_ref().ok().and_then(Option::as_ref);
            let Some(status) = report.and_then(|report| as_process(report, with_hosts, watched)) else {
                continue;
            };
            // One that serves several jobs has several sockets.
            match all.get_mut(name) {
                Some(first) => {
                    first.progress += status.progress;
                    first.waits.extend(status.waits);
                    first.computing_seconds = first.computing_seconds.and(status.computing_seconds);
                }
                None => drop(all.insert(name.clone(), status)),
            }
        }
        all
    };
    let (first, last) = (statuses(before), statuses(after));
    let mut all = BTreeMap::new();
    for (name, answer) in after {
        let heard = match answer {
            Err(error) => processes::Answer::Silent(silence(error)),
            Ok(None) => processes::Answer::NotStarted,
            Ok(Some(_)) => continue,
        };
        all.insert(name.clone(), heard);
    }
    all.extend(last.into_iter().map(|(name, status)| {
        let moved = first.get(&name).is_some_and(|before| before.progress < status.progress);
        (name, processes::Answer::Status(status, moved))
    }));
    all
}

/// Interfaces of hosts without a carrier, in words.
pub fn without_carrier(heard: &Answers) -> Vec<String> {
    let report = |answer: &std::io::Result<Option<StatusReport<AnyStatus>>>| {
        answer.as_ref().ok()?.as_ref()?.interface.clone()
    };
    let down = heard.iter().filter_map(|(name, answer)| Some((name, report(answer)?)));
    let down = down.filter(|(_, interface)| !interface.carrier);
    down.map(|(name, interface)| {
        format!(
            "host {name}: interface {} has no carrier; see its cable and the switch's port",
            interface.name
        )
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worker(job: u16, name: &str) -> AnyStatus {
        let status = serde_json::json!({"worker": {
            "job": job, "job_name": "digits", "plan_version": 1, "rank": 1, "name": name, "round": null, "in_round": false,
            "shards": [], "busy_seconds": 0.0, "frame_bytes": 1068, "failure": null,
            "counters": {"frames_sent": 0, "bytes_sent": 0, "retransmissions": 0, "bypasses": 0, "frames_received": 0,
                "bytes_received": 0, "results": 0, "marked": 0, "duplicates": 0, "requests": 0, "other_runs": 0,
                "foreign": 0, "malformed": 0},
        }});
        serde_json::from_value(status).expect("the status of a worker")
    }

    fn says(
        name: &str,
        status: Option<AnyStatus>,
    ) -> (String, std::io::Result<Option<StatusReport<AnyStatus>>>) {
        let report = status.map(|status| StatusReport { age_seconds: 0.0, interface: None, status });
        (name.to_owned(), Ok(report))
    }

    #[test]
    fn hosts_that_answer_for_a_job_only_the_second_time_have_started() {
        let gone = || ("w3".to_owned(), Err(std::io::Error::other("gone")));
        let before = vec![says("w1", Some(worker(1, "w1"))), says("w2", None), gone()];
        let after = vec![
            says("w1", Some(worker(1, "w1"))),
            says("w1", Some(worker(2, "w1"))),
            says("w2", Some(worker(1, "w2"))),
            gone(),
        ];
        let started = |job: u16, name: &str| (JobId::from(job), name.to_owned());
        assert_eq!(hosts(&before, after).started, [started(1, "w2"), started(2, "w1")].into());
    }
}
