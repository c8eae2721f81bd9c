//! Diagnosis of stalled jobs: which round and chunk of a job waits for which rank, and where its frames
//! stop. A pure function of the status of hosts and of two reads of the switches, whose difference shows
//! what is in motion.

mod finding;
mod peers;
mod trace;
mod view;

use std::collections::{BTreeMap, BTreeSet};

use inart_planner_aggregation::Plan;
use inart_protocol_aggregation::{ServerStatus, WorkerStatus};
use inart_topologies::switched::Topology;
use inart_wire::{JobId, PlanVersion};

pub use finding::{JobFinding, Missing, Waiting};
pub use peers::{PeersFinding, examine_peers};
use trace::Tracer;
pub use trace::{LinkEvidence, StallCause};
pub use view::{Arrived, Hosts, SwitchState, SwitchView};

use crate::error::InstallError;
use crate::members::members;
use crate::ports::PortMap;
use crate::records::Push;
use crate::requirements::Roles;

/// Wait of a chunk, in seconds, from which it counts as stalled.
const PATIENCE_SECONDS: f64 = 0.5;

/// Time since the last frame of a worker up to which a server counts as receiving: idle workers send
/// keep-alives every third of a second.
const HEARD_SECONDS: f64 = 5.0;

/// Diagnoses a job; `push` is its installed plan.
///
/// # Errors
/// A plan that does not fit the topology.
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
    let found = members(topology, found, plan);
    let names = found.workers.iter().map(|worker| topology.node(*worker).name.as_str());
    let roles = Roles::new(names, plan).map_err(|source| InstallError::plan(&plan.job, source))?;
    let examiner = Examiner { job, plan_version: push.plan_version, roles: &roles, hosts };
    let tracer = Tracer { ports, roles: &roles, plan, job, plan_version: push.plan_version, switches };
    let mut waiting = Vec::new();
    for (shard, server) in (0..).zip(&roles.servers) {
        // A server that has just started shows nothing about earlier frames.
        if hosts.moving.contains(&(job, shard)) || examiner.has_started(server) {
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
        unknown: examiner.unknown(plan),
        started: examiner.started(),
        waiting,
    })
}

struct Examiner<'a> {
    job: JobId,
    plan_version: PlanVersion,
    roles: &'a Roles<'a>,
    hosts: &'a Hosts,
}

impl Examiner<'_> {
    fn workers(&self) -> impl Iterator<Item = &(f64, WorkerStatus)> {
        self.hosts
            .workers
            .iter()
            .filter(|(_, worker)| (worker.job, worker.plan_version) == (self.job, self.plan_version))
    }

    fn servers(&self) -> impl Iterator<Item = &ServerStatus> {
        let all = self.hosts.servers.iter().map(|(_, status)| status);
        all.filter(|status| (status.job, status.plan_version) == (self.job, self.plan_version))
    }

    fn shard(
        &self,
        shard: u16,
        server: &str,
        tracer: &Tracer<'_>,
    ) -> Result<Option<Waiting>, crate::requirements::PlanError> {
        let status = self.hosts.servers.iter().find(|(_, status)| {
            (status.job, status.plan_version, status.shard.get()) == (self.job, self.plan_version, shard)
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
            .map(|why| format!("its process does not answer ({why}): stopped or dead"));
        let sequence =
            open.map(|open| open.sequence.get()).or(pending.iter().map(|(sequence, _)| *sequence).min());
        if sequence.is_none() && problem.is_none() {
            return Ok(None);
        }
        let held = self.hosts.holding.get(&(self.job, shard)).filter(|_| open.is_none() && problem.is_none());
        if let Some((why, (age, status))) = held.zip(status)
            && status.heard_seconds.iter().all(|heard| heard.is_some_and(|heard| heard + age < HEARD_SECONDS))
        {
            let problem = Some(format!("it holds back the complete sum: it {why}"));
            let (server, missing) = (server.to_owned(), Vec::new());
            return Ok(Some(Waiting { shard, server, sequence, chunk: None, missing, problem }));
        }
        let ranks: Vec<u16> = match open {
            Some(open) => open.missing.iter().map(|missing| missing.rank.get()).collect(),
            // The sum may wait at a switch for a worker without a status.
            None => {
                let waiting = pending.iter().filter(|(at, _)| Some(*at) == sequence).map(|(_, rank)| *rank);
                let ranks: BTreeSet<u16> = waiting.chain(self.without_status()).collect();
                ranks.into_iter().collect()
            }
        };
        let mut missing = Vec::new();
        let waits_for_started = ranks.iter().any(|rank| {
            self.roles.workers.get(usize::from(*rank)).is_some_and(|worker| self.has_started(worker))
        });
        for rank in ranks {
            let Some(worker) = self.roles.workers.get(usize::from(rank)) else { continue };
            let cause = match self.host(worker, shard, sequence) {
                Some(cause) => cause,
                None => self.known(worker, tracer.trace(worker, server)?),
            };
            missing.push(Missing { rank, worker: (*worker).to_owned(), cause });
        }
        self.blame(&mut missing, server, tracer);
        missing.retain(|missing| missing.cause != StallCause::JustStarted);
        if missing.is_empty() && waits_for_started && problem.is_none() {
            return Ok(None);
        }
        let chunks =
            self.workers().find_map(|(_, worker)| Some(worker.shards.get(usize::from(shard))?.chunks));
        let chunk =
            sequence.zip(chunks.filter(|chunks| *chunks > 0)).map(|(sequence, chunks)| sequence % chunks);
        Ok(Some(Waiting { shard, server: server.to_owned(), sequence, chunk, missing, problem }))
    }

    /// Returns ranks without a status.
    fn without_status(&self) -> impl Iterator<Item = u16> {
        let is_heard = |rank: &u16| self.workers().any(|(_, status)| status.rank.get() == *rank);
        (0..).zip(&self.roles.workers).map(|(rank, _)| rank).filter(move |rank| !is_heard(rank))
    }

    /// Returns the problem of the worker itself, if any.
    fn host(&self, worker: &str, shard: u16, sequence: Option<u32>) -> Option<StallCause> {
        if let Some(why) = self.hosts.silent.get(worker) {
            return Some(StallCause::HostSilent { why: why.clone() });
        }
        let Some((age, status)) = self.workers().find(|(_, status)| status.name == worker) else {
            return self.hosts.beginning.contains(worker).then_some(StallCause::NotStarted);
        };
        if self.has_started(worker) {
            return Some(StallCause::JustStarted);
        }
        let behind = status.shards.get(usize::from(shard)).is_some_and(|flow| {
            flow.oldest.is_none_or(|oldest| sequence.is_some_and(|waited| oldest.sequence.get() < waited))
        });
        (!status.in_round && behind).then_some(StallCause::NotBegun { ms: (age * 1e3) as u64 })
    }

    /// Adds the status of a worker whose frames stop.
    fn known(&self, worker: &str, found: StallCause) -> StallCause {
        let status = self.workers().find(|(_, status)| status.name == worker);
        match (found, status) {
            (
                StallCause::NotArriving { from, to: switch, .. } | StallCause::Elsewhere { from, switch, .. },
                None,
            ) if from == worker => StallCause::NotKnown { switch },
            (StallCause::NotArriving { from, to, link }, Some((_, status))) if from == worker => {
                let carrier = self.hosts.carriers.get(worker).copied();
                let (frame_bytes, mtu) = (Some(status.frame_bytes), self.hosts.mtus.get(worker).copied());
                StallCause::NotArriving { from, to, link: LinkEvidence { carrier, frame_bytes, mtu, ..link } }
            }
            (found, _) => found,
        }
    }

    /// Returns whether a host of the job has started during the observation.
    fn has_started(&self, host: &str) -> bool {
        self.hosts.started.contains(&(self.job, host.to_owned()))
    }

    /// Returns hosts of the job that have started, as "rank 1 (w2)" and "server s1".
    fn started(&self) -> Vec<String> {
        let ranks = self.roles.workers.iter().enumerate().filter(|(_, name)| self.has_started(name));
        let ranks = ranks.map(|(rank, name)| format!("rank {rank} ({name})"));
        let servers = self.roles.servers.iter().filter(|name| self.has_started(name));
        ranks.chain(servers.map(|name| format!("server {name}"))).collect()
    }

    /// Returns hosts of the job without a status although others have one, as "rank 1 (w2)" and "server
    /// s1". A server without a share may not run.
    fn unknown(&self, plan: &Plan) -> Vec<String> {
        let servers: BTreeSet<&str> = self.servers().map(|status| &status.server[..]).collect();
        let workers: BTreeSet<&str> = self.workers().map(|(_, status)| &status.name[..]).collect();
        if !self.hosts.all_asked || servers.is_empty() && workers.is_empty() {
            return Vec::new();
        }
        let is_missing = |name: &str, known: &BTreeSet<&str>| {
            !known.contains(name)
                && !self.hosts.silent.contains_key(name)
                && !self.hosts.beginning.contains(name)
        };
        let ranks = self.roles.workers.iter().enumerate().filter(|(_, name)| is_missing(name, &workers));
        let ranks = ranks.map(|(rank, name)| format!("rank {rank} ({name})"));
        let shards =
            plan.shards.iter().filter(|shard| shard.share > 0.0 && is_missing(&shard.server, &servers));
        ranks.chain(shards.map(|shard| format!("server {}", shard.server))).collect()
    }

    /// Keeps the workers that hold up the others. If none does, the sum is complete and does not arrive at
    /// its destination.
    fn blame(&self, missing: &mut Vec<Missing>, server: &str, tracer: &Tracer<'_>) {
        let is_held_up = |missing: &Missing| {
            matches!(missing.cause, StallCause::InSum { .. } | StallCause::Arriving { .. })
        };
        if missing.iter().any(|missing| !is_held_up(missing)) {
            missing.retain(|missing| !is_held_up(missing));
            return;
        }
        for missing in missing {
            if let StallCause::InSum { switch } | StallCause::Arriving { switch } = &missing.cause {
                let to = tracer.after(switch, &missing.worker, server);
                let link = LinkEvidence::default();
                missing.cause = StallCause::NotArriving { from: switch.clone(), to, link };
            }
        }
    }
}
