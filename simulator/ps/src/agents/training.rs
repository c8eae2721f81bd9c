//! The training program of all processes, and the server's checkpoint.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use inart_connections::PeerNo;
use inart_protocol_ps::WorkerNo;
use inart_ps_agent::{
    Checkpoint, CheckpointStore, Computed, Precision, Sequencer, ServerAgent, ServerCounters, ServerReport,
    ServerSetup, Start, Training, TrainingCheckpoint, WorkerAgent, WorkerCounters, WorkerError, WorkerReport,
    WorkerSetup,
};
use inart_terms::{Agreement, Terms};
use inart_virtual::SplitMix64;
use inart_world::{Later, Program};

use super::audit::{Audit, Rule, Wrong};
use super::error::AgentError;
use super::machine::{Agent, Report, SERVER};
use super::options::{AgentOptions, MODEL, Sync};
use inart_topologies::ps::Job;

/// Values of a chunk.
pub const CHUNK_VALUES: usize = 4;
/// Most chunks in flight, as in hosts.
const WINDOW: usize = 16;
/// Number of the training, used for nothing else here.
const TRAINING: u64 = 78;
/// Patience of a worker, which exceeds the length of any run.
const FOR_EVER: Duration = Duration::from_secs(1 << 32);

/// The checkpoint of a server.
#[derive(Debug)]
struct Memory(Mutex<Checkpoint>);

impl Memory {
    fn read(&self) -> Checkpoint {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl CheckpointStore for Memory {
    fn keep(&self, training: &TrainingCheckpoint) -> Result<(), String> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = training.kept.clone();
        Ok(())
    }
}

/// An applied version, for measurements.
pub struct Applied {
    /// Time of the application.
    pub at: Duration,
    /// Workers and iterations of the updates.
    pub updates: Vec<(usize, u64)>,
}

/// The training of a job, for the world.
pub struct Trainer<'r, B> {
    job: &'r Job,
    options: &'r AgentOptions,
    /// Creates the sequencer of a starting server.
    build: B,
    /// Checkpoint of the current server, or of the previous one.
    kept: Arc<Memory>,
    /// By process, the number of its starts.
    starts: Vec<u32>,
    /// Compute times, in the order in which participants start to compute.
    computes: SplitMix64,
    updates: SplitMix64,
    /// Participants whose processes do not restart.
    pub gone: BTreeSet<usize>,
    pub audit: Audit,
    pub applied: Vec<Applied>,
    /// Times and workers of arrived updates.
    pub arrived: Vec<(Duration, usize)>,
    pub given_up: u64,
    pub disconnected: u64,
    /// Counters of ended processes.
    pub server: ServerCounters,
    pub workers: WorkerCounters,
    pub kills: u64,
}

impl<'r, S, B> Trainer<'r, B>
where
    S: Sequencer,
    B: FnMut(Checkpoint) -> Result<S, AgentError>,
{
    /// Creates the training of a job with its first model.
    pub fn new(job: &'r Job, options: &'r AgentOptions, rule: Rule, restarts: bool, build: B) -> Self {
        let mut updates = SplitMix64::stream(options.seed, 2);
        let values = options.chunks as usize * CHUNK_VALUES;
        let first: Vec<f32> = (0..values).map(|_| updates.uniform(-1.0, 1.0) as f32).collect();
        let n = job.participants.len();
        let batches = job.participants.iter().map(|one| one.batch).collect();
        Trainer {
            job,
            options,
            build,
            audit: Audit::new(rule, batches, restarts, first.clone()),
            kept: Arc::new(Memory(Mutex::new(Checkpoint {
                version: 0,
                done: vec![0; n],
                members: vec![false; n],
                values: first,
            }))),
            starts: vec![0; n + 1],
            computes: SplitMix64::new(options.seed),
            updates,
            gone: BTreeSet::new(),
            applied: Vec::new(),
            arrived: Vec::new(),
            given_up: 0,
            disconnected: 0,
            server: ServerCounters::default(),
            workers: WorkerCounters::default(),
            kills: 0,
        }
    }

    /// Returns the name of a process.
    pub fn name(&self, who: PeerNo) -> &str {
        match who {
            SERVER => "the server",
            PeerNo(number) => &self.job.participants[number as usize - 1].name,
        }
    }

    /// Returns a finding of the oracle with the participant's name.
    pub fn wrong(&self, (worker, what): Wrong) -> AgentError {
        AgentError::Wrong { who: self.job.participants[worker].name.clone(), what }
    }

    fn start_server(&mut self, incarnation: u32, now: Duration) -> Result<ServerAgent<S>, AgentError> {
        let n = self.job.participants.len();
        if incarnation > 1 {
            let found = self.audit.restarted(&self.kept.read());
            found.map_err(|wrong| self.wrong(wrong))?;
        }
        let setup = ServerSetup {
            incarnation,
            model: MODEL,
            chunk_values: CHUNK_VALUES,
            precision: Precision::Single,
            window: WINDOW,
            rates_bps: vec![None; n],
            gather: now + self.options.gather,
            absence: self.options.absence,
            iterations: Some(u64::from(self.options.iterations)),
        };
        let sequencer = (self.build)(self.kept.read())?;
        let workers = self.job.participants.iter().map(|one| one.name.clone()).collect();
        let agreement = Agreement::new(Terms::default());
        let training =
            Training { number: TRAINING, server: self.name(SERVER).to_owned(), workers, agreement };
        Ok(ServerAgent::new(setup, sequencer).with_training(training).with_store(self.kept.clone()))
    }

    fn of_server(
        &mut self,
        agent: &mut ServerAgent<S>,
        report: ServerReport,
        now: Duration,
    ) -> Result<(), Wrong> {
        match report {
            ServerReport::Pushed { worker, iteration, base, values, refusal } => {
                let worker = worker.index();
                if let Some(refusal) = refusal {
                    return Err((worker, format!("update {iteration} is refused: {refusal}")));
                }
                self.arrived.push((now, worker));
                self.audit.arrived(worker, iteration, base, &values)
            }
            ServerReport::Applied(applied) => {
                if agent.is_closing() {
                    self.audit.closes();
                }
                // Several versions may be applied at once: the last one is the server's.
                let is_last = agent.sequencer().version() == applied.version;
                let model = is_last.then(|| agent.model());
                let model = model.as_ref().map(|all| &***all);
                self.audit.applied(applied.version, &applied.updates, model)?;
                let updates = applied.updates.iter().map(|update| (update.worker.index(), update.iteration));
                self.applied.push(Applied { at: now, updates: updates.collect() });
                Ok(())
            }
            ServerReport::Joined { worker } => {
                self.audit.joined(worker.index());
                Ok(())
            }
            ServerReport::Gone { worker } => {
                self.given_up += 1;
                self.audit.removed(worker.index());
                Ok(())
            }
            ServerReport::Pulls { .. } => Ok(()),
            ServerReport::Alone { .. } => Ok(()),
            ServerReport::NotKept { why } => Err((0, why)),
            ServerReport::Rejected { worker, why } => Err((worker.index(), why)),
            ServerReport::Discarded { worker: WorkerNo(worker), iteration, refusal } => {
                Err((worker as usize, format!("update {iteration} is discarded: {refusal}")))
            }
            ServerReport::LeftOut { worker } => Err((worker.index(), "the client is excluded".to_owned())),
            ServerReport::Overflow { overflow, .. } => Err((overflow.worker.index(), overflow.to_string())),
        }
    }

    /// Computes a participant's update: the oracle has it at once, the agent after the compute time.
    fn computes(&mut self, worker: usize, start: &Start) -> Result<(Duration, Computed), Wrong> {
        self.audit.pulled(worker, start)?;
        let participant = &self.job.participants[worker];
        let mut takes_s = participant.compute.draw(&mut self.computes);
        takes_s += match self.options.sync {
            Sync::Order(_) => (f64::from(start.batch) - f64::from(participant.batch)) / participant.speed,
            Sync::Groups { .. } => self.job.pause.draw(&mut self.computes),
        };
        let values = loop {
            let values: Vec<f32> =
                start.model.iter().map(|_| self.updates.uniform(-1.0, 1.0) as f32).collect();
            if self.audit.computed(worker, start, &values) {
                break values;
            }
        };
        let takes = Duration::from_nanos((takes_s.max(0.0) * 1e9).round() as u64);
        Ok((takes, Computed { ticket: start.ticket, update: values }))
    }

    fn of_worker(
        &mut self,
        worker: usize,
        report: WorkerReport,
        later: &mut Later<Computed>,
    ) -> Result<(), Wrong> {
        match report {
            WorkerReport::Compute(start) => {
                let computed = self.computes(worker, &start)?;
                later.push(computed);
                Ok(())
            }
            WorkerReport::Failed(WorkerError::NoServer(_)) => {
                Err((worker, "the worker waits without end".to_owned()))
            }
            WorkerReport::Failed(error) => Err((worker, error.to_string())),
            WorkerReport::LeftOut { why } => Err((worker, why)),
            WorkerReport::Pushed { .. } | WorkerReport::Over { .. } | WorkerReport::Waiting { .. } => Ok(()),
        }
    }

    /// Adds the drop counters of a process. Malformed messages are a defect.
    pub fn count(&mut self, who: PeerNo, agent: &Agent<S>) -> Result<(), AgentError> {
        let malformed = match agent {
            Agent::Server(agent) => {
                let own = agent.counters();
                self.server.repeated += own.repeated;
                self.server.unasked += own.unasked;
                self.server.stale_incarnation += own.stale_incarnation;
                own.malformed
            }
            Agent::Worker(agent) => {
                let own = agent.counters();
                self.workers.repeated += own.repeated;
                self.workers.superseded += own.superseded;
                self.workers.sent_again += own.sent_again;
                self.workers.unasked += own.unasked;
                self.workers.stale_incarnation += own.stale_incarnation;
                own.malformed
            }
        };
        if malformed == 0 {
            return Ok(());
        }
        let what = format!("received {malformed} unreadable messages");
        Err(AgentError::Wrong { who: self.name(who).to_owned(), what })
    }

    /// Returns the workers that the server waits for, or that no server runs.
    pub fn waits(&self, server: Option<&Agent<S>>, now: Duration) -> String {
        let Some(Agent::Server(agent)) = server else { return "no server runs".to_owned() };
        let one = |(worker, awaited): (WorkerNo, _)| {
            format!("{} {awaited}", self.job.participants[worker.index()].name)
        };
        let all: Vec<String> = agent.awaited(now).into_iter().map(one).collect();
        if all.is_empty() { "the server waits for no worker".to_owned() } else { all.join("; ") }
    }
}

impl<S, B> Program<Agent<S>> for Trainer<'_, B>
where
    S: Sequencer,
    B: FnMut(Checkpoint) -> Result<S, AgentError>,
{
    type Error = AgentError;

    fn start(&mut self, who: PeerNo, now: Duration) -> Result<Agent<S>, AgentError> {
        self.starts[who.index()] += 1;
        let incarnation = self.starts[who.index()];
        if who == SERVER {
            return Ok(Agent::Server(Box::new(self.start_server(incarnation, now)?)));
        }
        let setup = WorkerSetup {
            // No two processes have one incarnation.
            incarnation: who.0 << 16 | incarnation,
            model: MODEL,
            values: self.options.chunks as usize * CHUNK_VALUES,
            window: WINDOW,
            rate_bps: None,
            patience: FOR_EVER,
        };
        Ok(Agent::Worker(Box::new(WorkerAgent::new(setup))))
    }

    fn killed(&mut self, who: PeerNo, machine: Agent<S>) {
        self.kills += 1;
        // A killed process cannot report malformed messages; those that end do.
        let _ = self.count(who, &machine);
        if who != SERVER {
            self.audit.killed(who.index() - 1);
        }
    }

    fn disconnected(&mut self, [who, _]: [PeerNo; 2], _: &[Option<Agent<S>>], _: Duration) {
        self.disconnected += u64::from(who != SERVER);
    }

    fn report(
        &mut self,
        who: PeerNo,
        machine: &mut Agent<S>,
        report: Report,
        now: Duration,
        later: &mut Later<Computed>,
    ) -> Result<(), AgentError> {
        let found = match (report, machine) {
            (Report::Server(report), Agent::Server(agent)) => self.of_server(agent, report, now),
            (Report::Worker(report), _) => self.of_worker(who.index() - 1, report, later),
            (Report::Server(_), Agent::Worker(_)) => Ok(()),
        };
        found.map_err(|wrong| self.wrong(wrong))
    }

    /// Returns whether the server has ended, all live workers know, and all others have failed permanently.
    fn is_over(&self, machines: &[Option<Agent<S>>]) -> bool {
        let is_over = |(at, machine): (usize, &Option<Agent<S>>)| match machine {
            Some(Agent::Server(agent)) => agent.is_closing() && agent.is_idle(),
            Some(Agent::Worker(agent)) => agent.is_over(),
            None => at > 0 && self.gone.contains(&(at - 1)),
        };
        let is_alone = self.gone.len() == self.job.participants.len();
        is_alone && machines[1..].iter().all(Option::is_none) || machines.iter().enumerate().all(is_over)
    }
}
