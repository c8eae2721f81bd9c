//! The hosts of the jobs that run: what each job's are told, and what they say.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use inart_controller_api::{Ending, Instruction};
use inart_protocol_aggregation::{MigrationProgress, MigrationStep};
use inart_wire::{JobId, PlanVersion};
use tokio::sync::watch;

/// What the hosts of a job are told.
#[derive(Debug, Clone)]
pub(super) struct Told {
    pub instruction: Instruction,
    /// The plan's rate in bit/s.
    pub rate_bps: f64,
}

/// The hosts of one job.
pub(super) struct JobHosts {
    told: Told,
    /// Since when the plan version is in force.
    since: Instant,
    /// Who follows hears of it here, as long as the daemon is in charge.
    telling: Option<watch::Sender<Instruction>>,
    /// By role, such as worker-3: what it said last.
    answers: BTreeMap<String, Answer>,
}

/// What a host said to an instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The instruction's plan version, and the one beside it.
    pub plan_versions: (PlanVersion, Option<PlanVersion>),
    /// The step from there that it took.
    pub step: MigrationStep,
    /// How far it is on its way.
    pub moving: MigrationProgress,
    /// Why it does not do it, if it does not.
    pub refusal: Option<String>,
}

/// How far the hosts of a job are with what they were told last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// How many there are.
    pub hosts: usize,
    /// Those that have not said that they do it, by role.
    pub missing: Vec<String>,
    /// The first that refuses, and why.
    pub refusal: Option<(String, String)>,
    /// Workers that do, but have not followed their servers yet, by role.
    pub lagging: Vec<String>,
    /// The results that the workers have got which do not, or lag, as far as they said.
    pub results: u64,
}

impl JobHosts {
    /// Hosts that are told this.
    pub fn new(told: Told) -> Self {
        let telling = Some(watch::Sender::new(told.instruction.clone()));
        Self { told, since: Instant::now(), telling, answers: BTreeMap::new() }
    }

    /// What they are told.
    pub fn told(&self) -> Told {
        self.told.clone()
    }

    /// Since when what they are told is in force.
    pub fn since(&self) -> Instant {
        self.since
    }

    /// The job's number.
    pub fn job(&self) -> JobId {
        self.told.instruction.assignment.job
    }

    /// What they are told, and all that they will be; `None` once nobody is told anything.
    pub fn follow(&self) -> Option<watch::Receiver<Instruction>> {
        self.telling.as_ref().map(watch::Sender::subscribe)
    }

    /// How many follow.
    pub fn followers(&self) -> usize {
        self.telling.as_ref().map_or(0, watch::Sender::receiver_count)
    }

    /// Tells them something else. Where their run ends is another matter.
    pub fn tell(&mut self, mut told: Told) {
        told.instruction.ending = self.told.instruction.ending;
        self.say(told);
    }

    /// Tells them where their run ends.
    pub fn tell_ending(&mut self, ending: Ending) {
        let mut told = self.told.clone();
        told.instruction.ending = ending;
        self.say(told);
    }

    fn say(&mut self, told: Told) {
        if let Some(telling) = &self.telling {
            telling.send_replace(told.instruction.clone());
        }
        if told.instruction.assignment.plan_version != self.told.instruction.assignment.plan_version {
            self.since = Instant::now();
        }
        self.told = told;
    }

    /// The roles of the assignment, if this one is not among them.
    pub fn lacks_role(&self, role: &str) -> Option<String> {
        let assignment = &self.told.instruction.assignment;
        let (workers, servers) = (assignment.workers.len(), assignment.shards.len());
        let is_one = |kind: &str, count: usize| (0..count).any(|number| role == format!("{kind}-{number}"));
        if is_one("worker", workers) || is_one("server", servers) {
            return None;
        }
        let (last_worker, last_server) = (workers.saturating_sub(1), servers.saturating_sub(1));
        Some(format!("worker-0 to worker-{last_worker} and server-0 to server-{last_server}"))
    }

    /// Whether some host follows now.
    pub fn is_followed(&self) -> bool {
        self.telling.as_ref().is_some_and(|telling| telling.receiver_count() > 0)
    }

    /// Nobody is told anything any more.
    pub fn end(&mut self) {
        self.telling = None;
    }

    /// Hears a host.
    pub fn hear(&mut self, role: String, answer: Answer) {
        self.answers.insert(role, answer);
    }

    /// How far they are. A server without a share may not run at all.
    pub fn progress(&self) -> Progress {
        let Instruction { assignment, previous_plan_version, step, .. } = &self.told.instruction;
        let workers = (0..assignment.workers.len()).map(|rank| format!("worker-{rank}"));
        let shards = assignment.shards.iter().enumerate().filter(|(_, shard)| shard.share > 0.0);
        let servers = shards.map(|(shard, _)| format!("server-{shard}"));
        let roles: BTreeSet<_> = workers.chain(servers).chain(self.answers.keys().cloned()).collect();
        let told = (assignment.plan_version, *previous_plan_version, *step);
        let answer = |role: &String| {
            self.answers
                .get(role)
                .filter(|answer| (answer.plan_versions.0, answer.plan_versions.1, answer.step) == told)
        };
        let refusal = roles.iter().find_map(|role| Some((role.clone(), answer(role)?.refusal.clone()?)));
        let is_lagging = |role: &&String| {
            *step == MigrationStep::Lead
                && answer(role).is_some_and(|said| said.refusal.is_none() && said.moving.is_lagging)
        };
        let lagging: Vec<String> = roles.iter().filter(is_lagging).cloned().collect();
        let hosts = roles.len();
        let is_missing = |role: &String| answer(role).is_none_or(|said| said.refusal.is_some());
        let missing: Vec<String> = roles.into_iter().filter(is_missing).collect();
        let results = |role: &String| self.answers.get(role).map_or(0, |said| said.moving.results);
        let results = missing.iter().chain(&lagging).map(results).sum();
        Progress { hosts, missing, refusal, lagging, results }
    }
}
