//! The processes of peers and their coordinator, and what they say.

use std::collections::BTreeMap;
use std::io;
use std::process::Command;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use inart_peers::{Guard, Multicast, Scheme};
use serde::Deserialize;

use super::rates::UP;
use super::setting::{Setting, Sync, Workload};
use super::wiring::{PeersWiring, at_port, coordinator, from_coordinator, listen};
use crate::child::{Child, Lines};
use crate::clock::monotonic_ns;
use crate::error::Error;
use crate::scratch::Scratch;

/// An update that a peer has computed. Times are on the system's monotonic clock, in nanoseconds.
#[derive(Debug, Clone, Deserialize)]
pub struct Sent {
    pub round: u32,
    /// SHA-256 of its bits.
    pub sent: String,
    /// When the peer began to compute it.
    pub began_ns: u64,
    pub computed_ns: u64,
}

/// A multicast that is over.
#[derive(Debug, Clone, Deserialize)]
pub struct Ended {
    pub round: u32,
    /// The names of those who said that they have the update, whole.
    pub complete: Vec<String>,
    pub given_up: Vec<String>,
    /// How long it took.
    pub seconds: f64,
    pub ended_ns: u64,
}

#[derive(Debug, Deserialize)]
struct Arrived {
    received: String,
    from: String,
    round: u32,
}

/// What a peer says in the end.
#[derive(Debug, Clone, Deserialize)]
pub struct Counted {
    /// Share of test images that the trained model tells rightly; none without training.
    pub accuracy: Option<f64>,
    /// Peers that were taken for gone.
    pub gone: u64,
    /// Rounds to the last receivers, since no choice came.
    pub without_choice: u64,
    /// Chunks that were sent again on connections.
    pub failed: u64,
    /// Chunks that were sent again in frames.
    pub repairs: u64,
    /// Frames of updates for others that reached it.
    pub not_mine: u64,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Line {
    Sent(Sent),
    Received(Arrived),
    Averaged {
        #[serde(rename = "averaged")]
        _digest: String,
    },
    Ended(Ended),
    Counted(Counted),
}

/// Receivers that the coordinator has chosen.
#[derive(Debug, Clone, Deserialize)]
struct Chosen {
    from: String,
    round: u32,
    rate_bps: f64,
}

/// What processes have said. Peers are ranks.
#[derive(Debug, Default)]
pub struct Said {
    /// By sender and round.
    pub sent: BTreeMap<(usize, u32), Sent>,
    /// By sender and round.
    pub ended: BTreeMap<(usize, u32), Ended>,
    /// By receiver, sender and round: SHA-256 of each copy that it has received.
    pub received: BTreeMap<(usize, usize, u32), Vec<String>>,
    /// By sender and round: the rate that the coordinator gave last.
    pub rates_bps: BTreeMap<(usize, u32), f64>,
    /// By peer.
    pub counted: BTreeMap<usize, Counted>,
}

/// Running processes; killed when dropped.
#[derive(Debug)]
pub struct Processes {
    names: Vec<String>,
    peers: Vec<Child>,
    coordinator: Child,
    lines: Receiver<(Option<usize>, Vec<u8>)>,
    said: Said,
}

impl Processes {
    pub fn start(
        setting: &Setting,
        scheme: Scheme,
        coordinator_name: &str,
        wiring: &PeersWiring,
        scratch: &Scratch,
    ) -> Result<Self, Error> {
        let (told, lines) = mpsc::channel();
        let hear = |who: Option<usize>| -> Lines {
            let told = told.clone();
            Box::new(move |line: &[u8]| drop(told.send((who, line.to_vec()))))
        };
        let names = setting.names();
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
        command.args(["--eta", &setting.reading.eta.to_string()]);
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
        let start = Error::system("start the coordinator");
        let coordinator_child =
            Child::spawn_heard(coordinator_name, command, hear(None), heard(coordinator_name));
        let coordinator_child = coordinator_child.map_err(start)?;
        let mut peers = Vec::new();
        for (rank, name) in names.iter().enumerate() {
            let mut command = wiring.peer(rank).command(&setting.program);
            command.args(["--json", "peer"]).arg(scratch.path("network.yaml"));
            match setting.workload {
                Workload::Training { batch } => command.args(["--batch", &batch.to_string()]),
                Workload::Random => command.arg("--random"),
            };
            if setting.is_compute_stated() {
                command.arg("--stated-compute");
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
            let child = Child::spawn_heard(name.clone(), command, hear(Some(rank)), heard(name));
            peers.push(child.map_err(Error::system("start a peer"))?);
        }
        Ok(Self { names, peers, coordinator: coordinator_child, lines, said: Said::default() })
    }

    pub fn said(&self) -> &Said {
        &self.said
    }

    /// Waits until a peer has computed an update; says when it began to.
    pub fn wait_for_first_round(&mut self, longest: Duration) -> Result<Instant, Error> {
        let deadline = Instant::now() + longest;
        loop {
            self.listen(Duration::from_millis(50))?;
            if let Some(began_ns) = self.said.sent.values().map(|sent| sent.began_ns).min() {
                let ago = monotonic_ns().saturating_sub(began_ns);
                return Ok(Instant::now() - Duration::from_nanos(ago));
            }
            if Instant::now() > deadline {
                let why = format!("no peer has begun a round within {} s", longest.as_secs());
                return Err(Error::Failed { who: self.coordinator.name().to_owned(), why });
            }
        }
    }

    /// Takes what processes say for a while.
    pub fn listen(&mut self, time: Duration) -> Result<(), Error> {
        let until = Instant::now() + time;
        loop {
            match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok((Some(rank), line)) => self.line(rank, &line)?,
                Ok((None, line)) => self.choice(&line),
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => break std::thread::sleep(time),
            }
        }
        for child in self.peers.iter_mut().chain([&mut self.coordinator]) {
            if let Err(why) = child.check() {
                return Err(Error::Failed { who: child.name().to_owned(), why });
            }
        }
        Ok(())
    }

    fn line(&mut self, rank: usize, line: &[u8]) -> Result<(), Error> {
        let said = &mut self.said;
        match serde_json::from_slice(line) {
            Ok(Line::Sent(sent)) => {
                said.sent.insert((rank, sent.round), sent);
            }
            Ok(Line::Received(Arrived { received, from, round })) => {
                if let Some(from) = self.names.iter().position(|name| *name == from) {
                    said.received.entry((rank, from, round)).or_default().push(received);
                }
            }
            Ok(Line::Averaged { .. }) => {}
            Ok(Line::Ended(ended)) => {
                said.ended.insert((rank, ended.round), ended);
            }
            Ok(Line::Counted(counted)) => {
                said.counted.insert(rank, counted);
            }
            Err(error) => {
                let cause = io::Error::other(format!("{error}: {}", String::from_utf8_lossy(line)));
                return Err(Error::System { what: format!("read what {} says", self.names[rank]), cause });
            }
        }
        Ok(())
    }

    fn choice(&mut self, line: &[u8]) {
        // It says other things, too.
        let Ok(Chosen { from, round, rate_bps }) = serde_json::from_slice(line) else {
            return tracing::debug!("the coordinator: {}", String::from_utf8_lossy(line));
        };
        if let Some(from) = self.names.iter().position(|name| *name == from) {
            self.said.rates_bps.insert((from, round), rate_bps);
        }
    }

    pub fn are_over(&self) -> bool {
        self.said.counted.len() == self.peers.len()
    }

    pub fn end(mut self) -> Result<Said, Error> {
        self.listen(Duration::from_millis(100))?;
        if !self.are_over() {
            let missing =
                self.names.iter().enumerate().filter(|(rank, _)| !self.said.counted.contains_key(rank));
            let names: Vec<&str> = missing.map(|(_, name)| &**name).collect();
            let cause = io::Error::other(format!("{} did not end", names.join(", ")));
            return Err(Error::System { what: "end the rounds".to_owned(), cause });
        }
        Ok(self.said)
    }
}

/// What peers and coordinator are told alike.
fn common(command: &mut Command, setting: &Setting, scratch: &Scratch, name: &str) {
    command.args(["--name", name, "--seed", &setting.seed.to_string()]);
    command.args(["--rounds", &setting.rounds.to_string()]);
    command.args([
        "--multicast",
        setting.multicast.name(),
        "--values",
        &setting.values_per_packet.to_string(),
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
    command.args(["--force-after", &or_none(setting.force_after)]);
}

fn heard(name: &str) -> Lines {
    let name = name.to_owned();
    Box::new(move |line| tracing::debug!("{name}: {}", String::from_utf8_lossy(line)))
}
