//! Hosts of running jobs: their current instructions and their answers.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use inart_controller_api::{Ending, Instruction};
use inart_protocol_aggregation::{MigrationProgress, MigrationStep};
use inart_wire::{JobId, PlanVersion};
use tokio::sync::watch;

/// Current instruction of a job's hosts.
#[derive(Debug, Clone)]
pub(super) struct JobInstruction {
    pub instruction: Instruction,
    /// Rate of the plan, bit/s.
    pub rate_bps: f64,
}

/// Hosts of one job.
pub(super) struct JobHosts {
    current: JobInstruction,
    /// Since when the plan version is active.
    since: Instant,
    /// Sends instructions to watching hosts, until the daemon ends.
    sender: Option<watch::Sender<Instruction>>,
    /// Last answer by role, such as worker-3.
    answers: BTreeMap<String, Answer>,
}

/// Answer of a host to an instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    /// Plan version of the instruction, and the one next to it.
    pub plan_versions: (PlanVersion, Option<PlanVersion>),
    /// Migration step of the instruction.
    pub step: MigrationStep,
    /// Progress of the migration.
    pub moving: MigrationProgress,
    /// Why the host refuses, if it does.
    pub refusal: Option<String>,
}

/// Progress of a job's hosts with their current instruction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// Number of hosts.
    pub hosts: usize,
    /// Hosts that have not acknowledged the instruction, by role.
    pub missing: Vec<String>,
    /// First host that refuses, and why.
    pub refusal: Option<(String, String)>,
    /// Workers that have acknowledged, but still lag behind their servers, by role.
    pub lagging: Vec<String>,
    /// Results that the missing and lagging workers have reported.
    pub results: u64,
}

impl JobHosts {
    /// Creates hosts with a current instruction.
    pub fn new(current: JobInstruction) -> Self {
        let sender = Some(watch::Sender::new(current.instruction.clone()));
        Self { current, since: Instant::now(), sender, answers: BTreeMap::new() }
    }

    /// Returns the current instruction.
    pub fn current(&self) -> JobInstruction {
        self.current.clone()
    }

    /// Returns since when the plan version is active.
    pub fn since(&self) -> Instant {
        self.since
    }

    /// Returns the job's number.
    pub fn job(&self) -> JobId {
        self.current.instruction.assignment.job
    }

    /// Returns a receiver of the current instruction and all later ones; `None` after the end of the
    /// daemon.
    pub fn subscribe(&self) -> Option<watch::Receiver<Instruction>> {
        self.sender.as_ref().map(watch::Sender::subscribe)
    }

    /// Returns the number of watching hosts.
    pub fn watchers(&self) -> usize {
        self.sender.as_ref().map_or(0, watch::Sender::receiver_count)
    }

    /// Sets the instruction; the ending of the view stays.
    pub fn set(&mut self, mut current: JobInstruction) {
        current.instruction.ending = self.current.instruction.ending;
        self.send(current);
    }

    /// Sets the ending of the view.
    pub fn set_ending(&mut self, ending: Ending) {
        let mut current = self.current.clone();
        current.instruction.ending = ending;
        self.send(current);
    }

    fn send(&mut self, current: JobInstruction) {
        if let Some(sender) = &self.sender {
            sender.send_replace(current.instruction.clone());
        }
        if current.instruction.assignment.plan_version != self.current.instruction.assignment.plan_version {
            self.since = Instant::now();
        }
        self.current = current;
    }

    /// Returns the roles of the assignment if this one is not among them.
    pub fn lacks_role(&self, role: &str) -> Option<String> {
        let assignment = &self.current.instruction.assignment;
        let (workers, servers) = (assignment.workers.len(), assignment.shards.len());
        let is_one = |kind: &str, count: usize| (0..count).any(|number| role == format!("{kind}-{number}"));
        if is_one("worker", workers) || is_one("server", servers) {
            return None;
        }
        let (last_worker, last_server) = (workers.saturating_sub(1), servers.saturating_sub(1));
        Some(format!("worker-0 to worker-{last_worker} and server-0 to server-{last_server}"))
    }

    /// Returns whether a host is watching.
    pub fn is_watched(&self) -> bool {
        self.sender.as_ref().is_some_and(|sender| sender.receiver_count() > 0)
    }

    /// Ends all instruction streams.
    pub fn end(&mut self) {
        self.sender = None;
    }

    /// Stores an answer of a host.
    pub fn record_answer(&mut self, role: String, answer: Answer) {
        self.answers.insert(role, answer);
    }

    /// Returns the hosts' progress. A server without a share may not run at all.
    pub fn progress(&self) -> Progress {
        let Instruction { assignment, previous_plan_version, step, .. } = &self.current.instruction;
        let workers = (0..assignment.workers.len()).map(|rank| format!("worker-{rank}"));
        let shards = assignment.shards.iter().enumerate().filter(|(_, shard)| shard.share > 0.0);
        let servers = shards.map(|(shard, _)| format!("server-{shard}"));
        let roles: BTreeSet<_> = workers.chain(servers).chain(self.answers.keys().cloned()).collect();
        let expected = (assignment.plan_version, *previous_plan_version, *step);
        let answer = |role: &String| {
            self.answers
                .get(role)
                .filter(|answer| (answer.plan_versions.0, answer.plan_versions.1, answer.step) == expected)
        };
        let refusal = roles.iter().find_map(|role| Some((role.clone(), answer(role)?.refusal.clone()?)));
        let is_lagging = |role: &&String| {
            *step == MigrationStep::Lead
                && answer(role).is_some_and(|answer| answer.refusal.is_none() && answer.moving.is_lagging)
        };
        let lagging: Vec<String> = roles.iter().filter(is_lagging).cloned().collect();
        let hosts = roles.len();
        let is_missing = |role: &String| answer(role).is_none_or(|answer| answer.refusal.is_some());
        let missing: Vec<String> = roles.into_iter().filter(is_missing).collect();
        let results = |role: &String| self.answers.get(role).map_or(0, |answer| answer.moving.results);
        let results = missing.iter().chain(&lagging).map(results).sum();
        Progress { hosts, missing, refusal, lagging, results }
    }
}
