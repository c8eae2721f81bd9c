//! The processes of peers and their coordinator, and their output.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::{Duration, Instant};

use inart_planner_peers::{Guard, Multicast, Scheme};
use inart_report::{Chosen, Line, MulticastEnd, PeerEnd, PeerSent};

use super::rates::UP;
use super::setting::{Setting, Sync, Workload};
use super::wiring::{PeersWiring, at_port, coordinator, from_coordinator, listen};
use crate::error::Error;
use crate::machine::crew::{Crew, LONGEST_END, LOOK, PrintedLine};
use crate::machine::scratch::Scratch;

/// Owner of the process: a peer, by its rank, or the coordinator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ProcessId {
    Peer(usize),
    Coordinator,
}

/// Lines that processes have printed. Peers are ranks.
#[derive(Debug, Default)]
pub struct Records {
    /// By sender and round.
    pub sent: BTreeMap<(usize, u32), PeerSent>,
    /// By sender and round.
    pub ended: BTreeMap<(usize, u32), MulticastEnd>,
    /// By receiver, sender and round: SHA-256 of each copy that it has received.
    pub received: BTreeMap<(usize, usize, u32), Vec<String>>,
    /// By sender and round: the rate that the coordinator gave last.
    pub rates_bps: BTreeMap<(usize, u32), f64>,
    /// By peer.
    pub counted: BTreeMap<usize, PeerEnd>,
}

/// Running processes; killed when dropped.
#[derive(Debug)]
pub struct Processes {
    names: Vec<String>,
    crew: Crew<ProcessId>,
    records: Records,
}

impl Processes {
    pub fn start(
        setting: &Setting,
        scheme: Scheme,
        coordinator_name: &str,
        wiring: &PeersWiring,
        scratch: &Scratch,
    ) -> Result<Self, Error> {
        let (names, mut crew) = (setting.names(), Crew::new());
        let mut command = wiring.coordinator().command(&setting.program);
        command.args(["--json", "coordinator"]).arg(scratch.path("network.yaml"));
        match scheme {
            Scheme::Own => {
                let plan = serde_json::json!({ "tasks": setting.given_tasks() });
                let write = std::fs::write(scratch.path("plan.json"), plan.to_string());
                write.map_err(Error::system("write the plan"))?;
                command.arg("--plan").arg(scratch.path("plan.json"));
            }
            _ => drop(command.args(["--scheme", scheme.name()])),
        }
        command.args(["--finish-threshold", &setting.reading.eta.to_string()]);
        if setting.reading.guard == Guard::All {
            command.arg("--guard-all");
        }
        if !setting.reading.second_pass {
            command.arg("--first-pass-only");
        }
        for (rank, name) in names.iter().enumerate() {
            command.arg("--peer").arg(format!("{name}={}", from_coordinator(rank)));
        }
        common(&mut command, setting, scratch, coordinator_name);
        crew.start(ProcessId::Coordinator, coordinator_name, command)?;
        for (rank, name) in names.iter().enumerate() {
            let mut command = wiring.peer(rank).command(&setting.program);
            command.args(["--json", "peer"]).arg(scratch.path("network.yaml"));
            match setting.workload {
                Workload::Training { batch } => command.args(["--batch", &batch.to_string()]),
                Workload::Random => command.arg("--synthetic"),
            };
            if setting.is_compute_stated() {
                command.arg("--simulate-compute");
            }
            command.arg("--coordinator").arg(format!("{coordinator_name}={}", coordinator()));
            match setting.multicast {
                Multicast::Hosts => {
                    for (other, name) in names.iter().enumerate().filter(|(other, _)| *other != rank) {
                        command.arg("--peer").arg(format!("{name}={}", at_port(other)));
                    }
                }
                Multicast::Switch => drop(command.args(["--interface", UP])),
            }
            common(&mut command, setting, scratch, name);
            crew.start(ProcessId::Peer(rank), name, command)?;
        }
        Ok(Self { names, crew, records: Records::default() })
    }

    /// Waits until a peer has computed an update; returns when it began.
    pub fn wait_for_first_round(&mut self, longest: Duration) -> Result<Instant, Error> {
        let Self { names, crew, records } = self;
        crew.first_time(longest, &mut |line| records.take(names, line))
    }

    /// Reads until all peers have ended; calls `look` with their records every now and then.
    pub fn listen_to_the_end(
        &mut self,
        longest: Duration,
        look: &mut dyn FnMut(&Records),
    ) -> Result<(), Error> {
        let Self { names, crew, records } = self;
        crew.until(longest, "the end of all rounds", &mut |crew| {
            crew.listen(LOOK, &mut |line| records.take(names, line).map(drop))?;
            look(records);
            Ok(records.counted.len() == names.len())
        })
    }

    pub fn end(self) -> Result<Records, Error> {
        let Self { names, crew, mut records } = self;
        crew.end(LONGEST_END, |who| who != ProcessId::Coordinator, &mut |line| {
            records.take(&names, line).map(drop)
        })?;
        Ok(records)
    }
}

impl Records {
    /// Keeps a line; when the computation began, if it is of an update.
    fn take(&mut self, names: &[String], printed: PrintedLine<ProcessId>) -> Result<Option<u64>, Error> {
        let rank_of = |wanted: &str| names.iter().position(|name| name == wanted);
        let PrintedLine { who, line, place, .. } = printed;
        match (who, line) {
            (ProcessId::Peer(rank), Line::PeerSent(sent)) => {
                let began_ns = sent.began_ns;
                self.sent.insert((rank, sent.round), sent);
                return Ok(Some(began_ns));
            }
            (ProcessId::Peer(rank), Line::Received(arrived)) => {
                if let Some(from) = rank_of(&arrived.from) {
                    let copies = self.received.entry((rank, from, arrived.round)).or_default();
                    copies.push(arrived.received);
                }
            }
            (ProcessId::Peer(_), Line::Averaged(_)) => {}
            (ProcessId::Peer(rank), Line::MulticastEnded(ended)) => {
                self.ended.insert((rank, ended.round), ended);
            }
            (ProcessId::Peer(rank), Line::PeerEnded(end)) => {
                self.counted.insert(rank, *end);
            }
            (ProcessId::Coordinator, Line::Chosen(Chosen { from, round, rate_bps, .. })) => {
                if let Some(from) = rank_of(&from) {
                    self.rates_bps.insert((from, round), rate_bps);
                }
            }
            (
                ProcessId::Coordinator,
                line @ (Line::InCharge { .. } | Line::SelectionFailed { .. } | Line::OtherJob { .. }),
            ) => tracing::debug!("coordinator: {line:?}"),
            (_, line) => return Err(place.unexpected(&line)),
        }
        Ok(None)
    }
}

/// Adds the common arguments of peers and coordinator.
fn common(command: &mut Command, setting: &Setting, scratch: &Scratch, name: &str) {
    command.args(["--name", name, "--seed", &setting.seed.to_string()]);
    command.args(["--rounds", &setting.rounds.to_string()]);
    command.args([
        "--multicast",
        setting.multicast.name(),
        "--values",
        &setting.values_per_frame.to_string(),
    ]);
    command.args(["--listen", &listen().to_string(), "--congestion", &setting.congestion]);
    command.arg("--tls-ca").arg(scratch.path("ca.pem"));
    command.arg("--tls-cert").arg(scratch.path(&format!("{name}.pem")));
    command.arg("--tls-key").arg(scratch.path(&format!("{name}.key")));
    let or_none = |limit: Option<u32>| limit.map_or("none".to_owned(), |limit| limit.to_string());
    match setting.sync {
        Sync::Bsp => command.args(["--sync", "bsp"]),
        Sync::Ssp { staleness } => command.args(["--sync", "ssp", "--staleness", &or_none(staleness)]),
    };
    command.args(["--fairness-bound", &or_none(setting.force_after)]);
}
