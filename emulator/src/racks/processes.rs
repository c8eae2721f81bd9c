//! The processes of servers and workers, and what they say.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use inart_cluster::Racks;
use inart_core::Assignment;
use inart_host_agent::report::{Report, Role, RoundReport, Trained};
use inart_wire::{Rank, ShardId};
use serde::Deserialize;

use super::setting::RackSetting;
use crate::agents::Agents;
use crate::error::Error;
use crate::testbed::Testbed;

/// How long a host may report nothing.
const LONGEST_SILENCE: Duration = Duration::from_secs(120);
/// How often it is looked whether all are there; each takes a moment.
const LOOKS: usize = 1500;

/// What a server says of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum ServerLine {
    /// It can be reached.
    Listening,
    /// All workers of a group have computed.
    Ready {
        /// The group, from 0.
        group: usize,
        /// On the system's clock.
        at_ns: u64,
    },
    /// A turn begins.
    Begins {
        /// The group, from 0.
        group: usize,
        /// Turns count from 0.
        turn: u64,
        /// On the system's clock.
        at_ns: u64,
    },
    /// A turn is applied.
    Ends {
        /// The group, from 0.
        group: usize,
        /// Turns count from 0.
        turn: u64,
        /// As the server counts it.
        staleness: u64,
        /// Of its part of the model.
        digest: String,
        /// On the system's clock.
        at_ns: u64,
    },
    /// It has ended.
    Over {
        /// Frames that came, of all groups.
        frames: u64,
    },
}

/// What all have said.
#[derive(Debug, Default)]
pub struct Said {
    /// By server.
    pub servers: Vec<Vec<ServerLine>>,
    /// How good the training ended, as a worker tells it.
    pub trained: Option<Trained>,
}

/// Running processes; killed when dropped.
pub struct Processes {
    agents: Agents,
    /// By group: who has ended.
    done: Vec<BTreeSet<Rank>>,
    /// By group: how many there are.
    workers: Vec<usize>,
    names: Vec<Vec<String>>,
    servers: Vec<Role>,
    ended: BTreeSet<usize>,
    lines: Receiver<(usize, Vec<u8>)>,
    said: Said,
}

impl Processes {
    /// Starts all, and lets workers begin when all are there.
    pub fn start(
        setting: &RackSetting,
        racks: &Racks,
        testbed: &Testbed,
        assignments: &[Assignment],
    ) -> Result<Self, Error> {
        let agents = Agents::new(&testbed.scratch_path("reports.sock"), LONGEST_SILENCE)?;
        let (told, lines) = mpsc::channel();
        let names =
            |assignment: &Assignment| assignment.workers.iter().map(|worker| worker.name.clone()).collect();
        let mut processes = Processes {
            agents,
            done: vec![BTreeSet::new(); assignments.len()],
            workers: assignments.iter().map(|assignment| assignment.workers.len()).collect(),
            names: assignments.iter().map(names).collect(),
            servers: Vec::new(),
            ended: BTreeSet::new(),
            lines,
            said: Said::default(),
        };
        let shards = assignments.first().map_or(0, |assignment| assignment.shards.len());
        for shard in 0..shards {
            processes.start_server(setting, racks, testbed, assignments, (shard, &told))?;
        }
        processes.until(assignments, &mut |own| own.said.servers.iter().all(|lines| !lines.is_empty()))?;
        for (group, assignment) in assignments.iter().enumerate() {
            for rank in 0..assignment.workers.len() {
                let place = (rank, racks.groups[group].members[rank]);
                processes.start_worker(setting, testbed, assignment, place, assignments.len())?;
            }
        }
        let all: usize = processes.workers.iter().sum();
        let mut here = 0;
        for _ in 0..LOOKS {
            match processes.agents.next()? {
                Some((_, Report::Hello(_))) => here += 1,
                Some((_, Report::Failed { error })) => {
                    return Err(Error::Failed { who: "a worker".into(), why: error });
                }
                _ => processes.agents.check()?,
            }
            if here == all {
                break;
            }
        }
        assignments.iter().for_each(|assignment| processes.agents.begin(assignment.job));
        Ok(processes)
    }

    /// Waits for something that servers say.
    fn until(
        &mut self,
        assignments: &[Assignment],
        is_so: &mut dyn FnMut(&Self) -> bool,
    ) -> Result<(), Error> {
        for _ in 0..LOOKS {
            self.hear_servers(Duration::from_millis(20))?;
            if is_so(self) {
                return Ok(());
            }
            self.agents.check()?;
        }
        let who = format!("the servers of job {}", assignments.first().map_or("", |first| &first.name));
        Err(Error::Failed { who, why: "they do not say that they listen".into() })
    }

    fn start_server(
        &mut self,
        setting: &RackSetting,
        racks: &Racks,
        testbed: &Testbed,
        assignments: &[Assignment],
        (shard, told): (usize, &Sender<(usize, Vec<u8>)>),
    ) -> Result<(), Error> {
        let first = &assignments[0];
        let name = &first.shards[shard].server;
        let place = testbed.host(name);
        let mut command = place.namespace.command(&setting.program);
        command.args(["rack-server", "--json", "--interface", place.interface]);
        command.args(["--shard", &shard.to_string(), "--at-once", &racks.at_once.to_string()]);
        command.args(["--iterations", &setting.iterations.to_string(), "--seed", &setting.seed.to_string()]);
        for assignment in assignments {
            command.args(["--job", &assignment.name]);
        }
        of_all(&mut command, setting, testbed);
        let id = ShardId::try_from(shard).unwrap_or_else(|_| ShardId::from(0));
        let role = Role::Server(first.job, id);
        let told = told.clone();
        let output = Box::new(move |line: &[u8]| drop(told.send((shard, line.to_vec()))));
        let errors = Box::new(|line: &[u8]| tracing::debug!("{}", String::from_utf8_lossy(line)));
        self.agents.start_heard(role, format!("server {name}"), command, [output, errors])?;
        self.servers.push(role);
        self.said.servers.push(Vec::new());
        Ok(())
    }

    fn start_worker(
        &mut self,
        setting: &RackSetting,
        testbed: &Testbed,
        assignment: &Assignment,
        (rank, place_in_job): (usize, usize),
        groups: usize,
    ) -> Result<(), Error> {
        let worker = &assignment.workers[rank];
        let place = testbed.host(&worker.name);
        let compute = &setting.job.participants[place_in_job].compute;
        let all = setting.job.participants.len();
        let mut command = place.namespace.command(&setting.program);
        command.args(["rack-worker", "--interface", place.interface, "--job", &assignment.name]);
        command.args(["--rank", &rank.to_string(), "--groups", &groups.to_string()]);
        command.args(["--part", &format!("{place_in_job}/{all}"), "--step", &setting.step.to_string()]);
        command.args(["--iterations", &setting.iterations.to_string(), "--seed", &setting.seed.to_string()]);
        command.args(["--batch", &setting.batch.to_string()]);
        command.args([
            "--compute",
            &format!("{:.9} s", compute.mean_s),
            "--compute-cv",
            &compute.cv.to_string(),
        ]);
        command.arg("--report").arg(testbed.scratch_path("reports.sock"));
        of_all(&mut command, setting, testbed);
        let rank = Rank::try_from(rank).unwrap_or(Rank::MAX);
        self.agents.start(Role::Worker(assignment.job, rank), format!("worker {}", worker.name), command)
    }

    /// Takes what workers report, by group and rank, until nobody has anything to say for a moment.
    pub fn listen(
        &mut self,
        take: &mut dyn FnMut(usize, Rank, RoundReport) -> Result<(), Error>,
    ) -> Result<(), Error> {
        while let Some((role, report)) = self.agents.next()? {
            let Some(Role::Worker(job, rank)) = role else { continue };
            let group = usize::from(job.get()) - 1;
            match report {
                Report::Round(report) => take(group, rank, report)?,
                Report::Done { trained } => {
                    self.done[group].insert(rank);
                    self.said.trained = self.said.trained.take().or(trained);
                }
                Report::Failed { error } => {
                    // Who has died says nothing; its process is known to be gone.
                    self.agents.check()?;
                    let who = format!("worker {}", self.names[group][rank.index()]);
                    return Err(Error::Failed { who, why: error });
                }
                _ => {}
            }
        }
        self.hear_servers(Duration::ZERO)?;
        self.agents.check()
    }

    /// Whether all workers have done their iterations, and all servers have ended.
    pub fn are_over(&mut self) -> Result<bool, Error> {
        if !self.done.iter().zip(&self.workers).all(|(done, workers)| done.len() == *workers) {
            return Ok(false);
        }
        for (at, role) in self.servers.iter().enumerate() {
            if !self.ended.contains(&at) && self.agents.exit_status(*role)?.is_some() {
                self.ended.insert(at);
            }
        }
        Ok(self.ended.len() == self.servers.len())
    }

    /// Hears what is left of what servers have said.
    pub fn drain(&mut self) {
        while let Ok((server, line)) = self.lines.try_recv() {
            if let Ok(line) = serde_json::from_slice(&line) {
                self.said.servers[server].push(line);
            }
        }
    }

    /// What was said.
    pub fn said(&self) -> &Said {
        &self.said
    }

    fn hear_servers(&mut self, wait: Duration) -> Result<(), Error> {
        let mut next = self.lines.recv_timeout(wait).ok();
        while let Some((server, line)) = next {
            let line = serde_json::from_slice(&line).map_err(|error| Error::Failed {
                who: format!("server {server}"),
                why: format!("it says {:?}: {error}", String::from_utf8_lossy(&line)),
            })?;
            self.said.servers[server].push(line);
            next = self.lines.try_recv().ok();
        }
        Ok(())
    }
}

fn of_all(command: &mut Command, setting: &RackSetting, testbed: &Testbed) {
    command.args(["--controller", testbed.controller_address().unwrap_or_default()]);
    command.args(["--peer-timeout", &format!("{}s", setting.peer_timeout.as_secs_f64())]);
}
