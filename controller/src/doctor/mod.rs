//! Why nothing moves: which round and chunk of a job waits for which rank, and where its frames are stuck. A pure function
//! of what hosts and switches say, the switches twice, so that what moves can be told from what stands.

mod trace;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use inart_core::{ServerStatus, WorkerStatus};
use inart_planner::Topology;
use inart_tables::SteerKey;
use inart_targets::SwitchCounters;
use inart_wire::{Epoch, JobId};
use serde::Serialize;

pub use trace::Obstacle;
use trace::Tracer;

use crate::error::InstallError;
use crate::ports::PortMap;
use crate::records::Push;
use crate::wishes::Roles;

/// A switch that runs our program.
#[derive(Debug, Clone, Default)]
pub struct SwitchView {
    /// Its counters when it was first looked at.
    pub before: SwitchCounters,
    /// And a moment later, longer than a worker waits before it retransmits a chunk.
    pub after: SwitchCounters,
}

impl SwitchView {
    /// Frames that hit an entry of `steer` in between.
    fn hits(&self, key: &SteerKey) -> i64 {
        let packets =
            |counters: &SwitchCounters| counters.steer.get(key).map_or(0, |(_, counts)| counts.packets);
        packets(&self.after) - packets(&self.before)
    }
}

/// What is known of a switch.
#[derive(Debug, Clone)]
pub enum SwitchState {
    /// It runs our program.
    Ours(Box<SwitchView>),
    /// It cannot be asked, or runs something else; in words.
    Silent(String),
}

/// What the hosts said. Ages are in seconds, and are added to the spans in the status.
#[derive(Debug, Clone, Default)]
pub struct Hosts {
    /// Workers that answered, the later answer of two.
    pub workers: Vec<(f64, WorkerStatus)>,
    /// Servers that answered, the later answer of two.
    pub servers: Vec<(f64, ServerStatus)>,
    /// Shards whose server completed a chunk in between.
    pub moving: BTreeSet<(JobId, u16)>,
    /// Hosts that did not answer, by name, and what came of the attempt.
    pub silent: BTreeMap<String, String>,
}

/// A chunk that waits.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Waiting {
    /// Number of the shard.
    pub shard: u16,
    /// Its server.
    pub server: String,
    /// Sequence of the oldest chunk that waits; `None` if nobody knows.
    pub sequence: Option<u32>,
    /// Its place in the round's shard, from 0.
    pub chunk: Option<u32>,
    /// For whom.
    pub missing: Vec<Missing>,
    /// What is wrong with the server itself, if something is.
    pub problem: Option<String>,
}

/// A worker that a chunk waits for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Missing {
    /// Its rank.
    pub rank: u16,
    /// Its name.
    pub worker: String,
    /// Why its part is not there.
    #[serde(flatten)]
    pub obstacle: Obstacle,
}

/// What is found of a job.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JobFinding {
    /// The job's name.
    pub job: String,
    /// The round of the worker that is furthest behind, from 0; `None` if no worker said.
    pub round: Option<u32>,
    /// Whether a server completed chunks while it was watched.
    pub moves: bool,
    /// Why it is over, if it is.
    pub failure: Option<String>,
    /// Shards that wait.
    pub waiting: Vec<Waiting>,
}

/// A chunk that has waited for less than this is on its way.
const PATIENCE_SECONDS: f64 = 0.5;

/// Finds out why a job does not move: `push` is what was installed for it.
pub fn examine(
    topology: &Topology,
    ports: &PortMap,
    job: JobId,
    push: &Push,
    switches: &BTreeMap<String, SwitchState>,
    hosts: &Hosts,
) -> Result<JobFinding, InstallError> {
    let plan = &push.plan;
    let found = topology
        .job_named(&plan.job)
        .ok_or_else(|| InstallError::NoJob { job: plan.job.clone(), topology: topology.name().to_owned() })?;
    let names = found.workers.iter().map(|worker| topology.node(*worker).name.as_str());
    let roles = Roles::new(names, plan).map_err(|source| InstallError::plan(&plan.job, source))?;
    let examiner = Examiner { job, epoch: push.epoch, roles: &roles, hosts };
    let tracer = Tracer { ports, roles: &roles, plan, job, epoch: push.epoch, switches };
    let mut waiting = Vec::new();
    for (shard, server) in (0..).zip(&roles.servers) {
        if hosts.moving.contains(&(job, shard)) {
            continue;
        }
        let found = examiner.shard(shard, server, &tracer);
        waiting.extend(found.map_err(|source| InstallError::plan(&plan.job, source))?);
    }
    let of_job = || examiner.workers();
    Ok(JobFinding {
        job: plan.job.clone(),
        round: of_job().filter_map(|(_, worker)| worker.round).min(),
        moves: hosts.moving.iter().any(|(moving, _)| *moving == job),
        failure: of_job().find_map(|(_, worker)| worker.failure.clone()),
        waiting,
    })
}

struct Examiner<'a> {
    job: JobId,
    epoch: Epoch,
    roles: &'a Roles<'a>,
    hosts: &'a Hosts,
}

impl Examiner<'_> {
    fn workers(&self) -> impl Iterator<Item = &(f64, WorkerStatus)> {
        self.hosts.workers.iter().filter(|(_, worker)| (worker.job, worker.epoch) == (self.job, self.epoch))
    }

    fn shard(
        &self,
        shard: u16,
        server: &str,
        tracer: &Tracer<'_>,
    ) -> Result<Option<Waiting>, crate::wishes::PlanError> {
        let status = self.hosts.servers.iter().find(|(_, status)| {
            (status.job, status.epoch, status.shard.get()) == (self.job, self.epoch, shard)
        });
        // The oldest chunk of the shard that a worker waits for, and the workers that do.
        let pending = self.workers().filter_map(|(age, worker)| {
            let flow = worker.shards.get(usize::from(shard))?;
            let oldest = flow
                .oldest
                .filter(|oldest| oldest.sends > 1 || oldest.sent_seconds + age > PATIENCE_SECONDS)?;
            Some((oldest.sequence.get(), worker.rank.get()))
        });
        let pending: Vec<_> = pending.collect();
        let open = status.and_then(|(age, status)| {
            status.oldest.as_ref().filter(|open| open.open_seconds + age > PATIENCE_SECONDS)
        });
        let problem = self
            .hosts
            .silent
            .get(server)
            .map(|why| format!("its process does not answer ({why}): stopped or gone"));
        let sequence =
            open.map(|open| open.sequence.get()).or(pending.iter().map(|(sequence, _)| *sequence).min());
        if sequence.is_none() && problem.is_none() {
            return Ok(None);
        }
        let ranks: Vec<u16> = match open {
            Some(open) => open.missing.iter().map(|missing| missing.rank.get()).collect(),
            None => pending.iter().filter(|(at, _)| Some(*at) == sequence).map(|(_, rank)| *rank).collect(),
        };
        let mut missing = Vec::new();
        for rank in ranks {
            let Some(worker) = self.roles.workers.get(usize::from(rank)) else { continue };
            let obstacle =
                self.host(worker, shard, sequence).map_or_else(|| tracer.trace(worker, server), Ok)?;
            missing.push(Missing { rank, worker: (*worker).to_owned(), obstacle });
        }
        self.blame(&mut missing, server, tracer);
        let chunks =
            self.workers().find_map(|(_, worker)| Some(worker.shards.get(usize::from(shard))?.chunks));
        let chunk =
            sequence.zip(chunks.filter(|chunks| *chunks > 0)).map(|(sequence, chunks)| sequence % chunks);
        Ok(Some(Waiting { shard, server: server.to_owned(), sequence, chunk, missing, problem }))
    }

    /// What is wrong with the worker itself, if something is.
    fn host(&self, worker: &str, shard: u16, sequence: Option<u32>) -> Option<Obstacle> {
        if let Some(why) = self.hosts.silent.get(worker) {
            return Some(Obstacle::HostSilent { why: why.clone() });
        }
        let (age, status) = self.workers().find(|(_, status)| status.name == worker)?;
        let behind = status.shards.get(usize::from(shard)).is_some_and(|flow| {
            flow.oldest.is_none_or(|oldest| sequence.is_some_and(|waited| oldest.sequence.get() < waited))
        });
        (!status.in_round && behind).then_some(Obstacle::NotBegun { ms: (age * 1e3) as u64 })
    }

    /// Leaves those who hold the others up. Where nobody does, the sum is complete and does not arrive where it should.
    fn blame(&self, missing: &mut Vec<Missing>, server: &str, tracer: &Tracer<'_>) {
        let is_held_up = |missing: &Missing| {
            matches!(missing.obstacle, Obstacle::InSum { .. } | Obstacle::Arriving { .. })
        };
        if missing.iter().any(|missing| !is_held_up(missing)) {
            missing.retain(|missing| !is_held_up(missing));
            return;
        }
        for missing in missing {
            if let Obstacle::InSum { switch } | Obstacle::Arriving { switch } = &missing.obstacle {
                let to = tracer.after(switch, &missing.worker, server);
                missing.obstacle = Obstacle::NotArriving { from: switch.clone(), to };
            }
        }
    }
}

impl fmt::Display for JobFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "job {}", self.job)?;
        if let Some(round) = self.round {
            write!(f, " round {round}")?;
        }
        if let Some(failure) = &self.failure {
            return write!(f, ": it is over: {failure}");
        }
        match (self.waiting.is_empty(), self.moves) {
            (true, true) => return f.write_str(": it moves"),
            (true, false) => return f.write_str(": nothing waits: its workers compute, or have not begun"),
            (false, _) => f.write_str(":")?,
        }
        for (index, waiting) in self.waiting.iter().enumerate() {
            write!(f, "{} shard {} ({})", if index == 0 { "" } else { ";" }, waiting.shard, waiting.server)?;
            if let Some(problem) = &waiting.problem {
                write!(f, ": {problem}")?;
            }
            if let Some(sequence) = waiting.chunk.or(waiting.sequence) {
                write!(f, " waits for chunk {sequence}")?;
            }
            // Those that are held up alike are named together.
            for (index, alike) in waiting.missing.chunk_by(|a, b| a.obstacle == b.obstacle).enumerate() {
                let ranks: Vec<_> = alike.iter().map(|m| format!("rank {} ({})", m.rank, m.worker)).collect();
                let separator = if index == 0 { "" } else { "," };
                write!(f, "{separator} of {}: {}", ranks.join(" and "), alike[0].obstacle)?;
            }
        }
        Ok(())
    }
}
