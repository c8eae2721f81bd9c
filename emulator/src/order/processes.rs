//! The processes of a server and its workers, and what they say.

use std::collections::BTreeMap;
use std::io;
use std::process::Command;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use inart_order_agent::Precision;
use serde::Deserialize;

use super::setting::{Clients, Scheme, Setting};
use super::wiring::{OrderWiring, at, listen};
use crate::child::{Child, Lines};
use crate::error::Error;
use crate::scratch::Scratch;

/// An update that a worker has computed. Times are on the system's monotonic clock, in nanoseconds.
#[derive(Debug, Clone, Deserialize)]
pub struct Sent {
    /// SHA-256 of its bits, as they arrive.
    pub sent: String,
    pub iteration: u64,
    pub batch: usize,
    /// The version that it was computed from, and SHA-256 of its bits as they arrived.
    pub base: u64,
    pub model: String,
}

/// An update that has arrived at the server.
#[derive(Debug, Clone, Deserialize)]
pub struct Pushed {
    /// SHA-256 of its bits.
    pub pushed: String,
    pub worker: String,
    pub iteration: u64,
    pub base: u64,
    pub at_ns: u64,
}

/// Updates that the server has applied.
#[derive(Debug, Clone, Deserialize)]
pub struct Applied {
    /// The version that the model has then.
    pub applied: u64,
    /// SHA-256 of the model's bits; none if another version has followed at once.
    pub model: Option<String>,
    pub updates: Vec<AppliedUpdate>,
    pub at_ns: u64,
}

/// One of them.
#[derive(Debug, Clone, Deserialize)]
pub struct AppliedUpdate {
    pub worker: String,
    pub iteration: u64,
    pub staleness: u64,
    pub scale: f64,
}

/// A worker begins to pull.
#[derive(Debug, Clone, Deserialize)]
pub struct Pulls {
    pub pulls: String,
    pub at_ns: u64,
}

/// What the server says in the end.
#[derive(Debug, Clone, Deserialize)]
pub struct Counted {
    /// Updates that were discarded, since their values were refused.
    pub refused: u64,
    /// Workers that were given up.
    pub given_up: u64,
    /// r at the end; of workers.
    pub relaxation: Option<f64>,
    /// Of clients: models that came after their round.
    #[serde(default)]
    pub late: u64,
    /// Of clients: those that were left out for their data.
    #[serde(default)]
    pub left_out: Vec<String>,
    /// Packets that were dropped as they had come before, or nothing stands behind them.
    pub dropped: u64,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Line {
    Sent(Sent),
    Pushed(Pushed),
    Applied(Applied),
    Pulls(Pulls),
    Counted(Counted),
    Other(serde_json::Value),
}

/// What processes have said.
#[derive(Debug, Default)]
pub struct Said {
    /// By worker and iteration, each copy.
    pub sent: BTreeMap<(usize, u64), Vec<Sent>>,
    pub pushed: Vec<Pushed>,
    pub applied: Vec<Applied>,
    pub pulls: Vec<Pulls>,
    pub counted: Option<Counted>,
}

/// Running processes; killed when dropped.
#[derive(Debug)]
pub struct Processes {
    server: Child,
    workers: Vec<Child>,
    lines: Receiver<(Option<usize>, Vec<u8>)>,
    said: Said,
}

impl Processes {
    pub fn start(
        setting: &Setting,
        scheme: &Scheme,
        wiring: &OrderWiring,
        scratch: &Scratch,
    ) -> Result<Self, Error> {
        let (told, lines) = mpsc::channel();
        let hear = |who: Option<usize>| -> Lines {
            let told = told.clone();
            Box::new(move |line: &[u8]| drop(told.send((who, line.to_vec()))))
        };
        let mut command = wiring.host(0).command(&setting.program);
        command.args(["--json", "order-server"]).arg(scratch.path("network.yaml"));
        let length = if scheme.order.groups().is_some() { "--rounds" } else { "--iterations" };
        command.args(&scheme.flags).args([length, &setting.iterations.to_string(), "--pace"]);
        if setting.precision == Precision::Half {
            command.arg("--half");
        }
        for (worker, participant) in setting.job.participants.iter().enumerate() {
            command.arg("--worker").arg(format!("{}={}", participant.name, at(worker + 1)));
        }
        common(&mut command, setting, scratch, &setting.server);
        let server = Child::spawn_heard(&*setting.server, command, hear(None), heard(&setting.server));
        let server = server.map_err(Error::system("start the server"))?;
        let mut workers = Vec::new();
        for (worker, participant) in setting.job.participants.iter().enumerate() {
            let mut command = wiring.host(worker + 1).command(&setting.program);
            command.args(["--json", "order-worker"]).arg(scratch.path("network.yaml"));
            command.args(["--stated-compute", "--pace", "--step", &setting.step.to_string()]);
            if let Some(Clients { local, opposite }) = &setting.clients {
                command.args([
                    "--local-steps",
                    &local.steps.to_string(),
                    "--shards",
                    &local.shards.to_string(),
                ]);
                command.args(opposite.contains(&worker).then_some("--opposite"));
            }
            command.arg("--server").arg(format!("{}={}", setting.server, at(0)));
            common(&mut command, setting, scratch, &participant.name);
            let name = &participant.name;
            let child = Child::spawn_heard(&**name, command, hear(Some(worker)), heard(name));
            workers.push(child.map_err(Error::system("start a worker"))?);
        }
        Ok(Self { server, workers, lines, said: Said::default() })
    }

    pub fn said(&self) -> &Said {
        &self.said
    }

    /// Takes what processes say for a while.
    pub fn listen(&mut self, time: Duration) -> Result<(), Error> {
        let until = Instant::now() + time;
        loop {
            match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok((who, line)) => self.line(who, &line)?,
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => break std::thread::sleep(time),
            }
        }
        for child in self.workers.iter_mut().chain([&mut self.server]) {
            if let Err(why) = child.check() {
                return Err(Error::Failed { who: child.name().to_owned(), why });
            }
        }
        Ok(())
    }

    fn line(&mut self, who: Option<usize>, line: &[u8]) -> Result<(), Error> {
        let said = &mut self.said;
        match (who, serde_json::from_slice(line)) {
            (Some(worker), Ok(Line::Sent(sent))) => {
                said.sent.entry((worker, sent.iteration)).or_default().push(sent);
            }
            (None, Ok(Line::Pushed(pushed))) => said.pushed.push(pushed),
            (None, Ok(Line::Applied(applied))) => said.applied.push(applied),
            (None, Ok(Line::Pulls(pulls))) => said.pulls.push(pulls),
            (None, Ok(Line::Counted(counted))) => said.counted = Some(counted),
            (_, Ok(Line::Other(value))) => tracing::debug!("{who:?}: {value}"),
            (_, Ok(other)) => tracing::debug!("{who:?}: {other:?}"),
            (_, Err(error)) => {
                let cause = io::Error::other(format!("{error}: {}", String::from_utf8_lossy(line)));
                return Err(Error::System { what: "read what processes say".to_owned(), cause });
            }
        }
        Ok(())
    }

    /// Whether the server has counted, and all workers have ended.
    pub fn are_over(&mut self) -> bool {
        self.said.counted.is_some() && !self.workers.iter_mut().any(Child::is_alive)
    }

    pub fn end(mut self) -> Result<Said, Error> {
        if !self.are_over() {
            let mut alive = self.workers.iter_mut().chain([&mut self.server]).filter_map(|child| {
                let is_alive = child.is_alive();
                is_alive.then(|| child.name().to_owned())
            });
            let who = alive.next().unwrap_or_else(|| "the server".to_owned());
            return Err(Error::Failed { who, why: "it did not end".to_owned() });
        }
        self.workers.iter_mut().chain([&mut self.server]).for_each(Child::hear_out);
        self.listen(Duration::from_millis(50))?;
        Ok(self.said)
    }
}

/// What all are told alike.
fn common(command: &mut Command, setting: &Setting, scratch: &Scratch, name: &str) {
    command.args(["--name", name, "--seed", &setting.seed.to_string()]);
    command.args(["--listen", &listen().to_string(), "--congestion", &setting.congestion]);
    command.arg("--tls-ca").arg(scratch.path("ca.pem"));
    command.arg("--tls-cert").arg(scratch.path(&format!("{name}.pem")));
    command.arg("--tls-key").arg(scratch.path(&format!("{name}.key")));
}

fn heard(name: &str) -> Lines {
    let name = name.to_owned();
    Box::new(move |line| tracing::debug!("{name}: {}", String::from_utf8_lossy(line)))
}
