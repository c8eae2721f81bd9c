//! The controller's daemon in virtual time, for jobs that come and go and for hosts that do. The decisions
//! are the controller's own code: [`Membership`](inart_controller::membership::Membership), the records, and
//! where each change leads. What is here carries them out: one command after the other, with messages that
//! take their time.

mod audit;
mod changer;
mod hosts;
mod jobs;
mod meeting;
mod member;
mod runs;
mod verdict;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use inart_controller::membership::{Ending, Formation};
use inart_controller::{Fabric, Records};
use inart_core::Assignment;
use inart_planner::Plan;
use inart_wire::{Epoch, Incarnation};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use changer::Work;
use hosts::Said;
use meeting::Meeting;

use crate::Error;
use crate::event_queue::{EventKind, ProcessId};
use crate::live::LiveChange;
use crate::simulation::{Node, Simulation};

/// A host that stands still is looked at again after this.
const LOOK_AGAIN_NANOS: u64 = 5_000_000;

/// Something that is to happen.
#[derive(Debug)]
pub(crate) enum Pending {
    /// What the run has of jobs that come and go, by its place.
    Event(usize),
    /// A rendezvous is looked at.
    Tick(usize),
    /// A host of an elastic job asks for a run.
    Ask(ProcessId, u32),
    /// A host hears what its job is told now.
    Hear(ProcessId, Incarnation),
    /// The controller hears what became of that.
    Said(ProcessId, Said),
    /// A connection of the host in that place begins or ends.
    Stream { job: usize, role: String, life: Incarnation, opens: bool },
    /// A host of an elastic job says that it takes part no more.
    Leaves { job: usize, host: String, life: Incarnation, rounds: u64 },
    /// A worker of an elastic job has computed its gradient.
    Computed(ProcessId, u32),
    /// A server of an elastic job has told long enough that its run was aborted.
    Lingered(ProcessId, u32),
    /// A run has been planned.
    Planned(usize, Formation),
    /// The daemon looks whether it has something to do.
    Proceed,
    /// Hosts have had time enough for that piece of work.
    Limit(u32),
}

/// What the controller is to do, one after the other.
#[derive(Debug)]
pub(crate) enum Command {
    /// Move a job to other routes, or to that plan.
    Move(usize, Option<Box<Plan>>),
    /// Form a run.
    Form(usize, Formation),
    /// Make room for a job of that name.
    Submit(String),
    /// Install it by that plan; the plans of the others before.
    Install(Box<Plan>, Vec<(usize, Plan)>),
    /// Take it off, and give the others what it leaves.
    Delete(usize),
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Move(job, _) => write!(f, "moves job {job}"),
            Self::Form(job, formation) => {
                let (workers, servers) = (formation.workers.len(), formation.servers.len());
                write!(f, "forms a run of job {job}: {workers} workers, {servers} servers")
            }
            Self::Submit(name) => write!(f, "makes room for {name}"),
            Self::Install(plan, _) => write!(f, "installs {}", plan.job),
            Self::Delete(job) => write!(f, "takes job {job} off"),
        }
    }
}

/// What the hosts of a job are told.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub assignment: Assignment,
    /// The epoch beside it, while they move.
    pub beside: Option<Epoch>,
    /// Where the run of an elastic job ends.
    pub ending: Ending,
    /// Counts what they are told.
    pub version: u32,
    /// Counts the runs: hosts of another one are told that theirs is over.
    pub run: u32,
}

/// A job as the daemon knows it.
pub(crate) struct LiveJob {
    pub told: Told,
    /// Who has answered to what, and how.
    pub answers: BTreeMap<ProcessId, (u32, Result<(), String>)>,
    /// Of an elastic job.
    pub meeting: Option<Meeting>,
    /// Whether its tables are gone for good.
    pub is_gone: bool,
}

/// The controller's daemon.
pub(crate) struct Daemon {
    pub fabric: Fabric,
    pub records: Records,
    /// A stream of its own.
    pub rng: ChaCha8Rng,
    pending: Vec<Option<Pending>>,
    pub queue: VecDeque<Command>,
    pub work: Option<Work>,
    /// By number of the run's job.
    pub jobs: Vec<LiveJob>,
    /// Counts the pieces of work.
    pub works: u32,
    /// Events that are yet to happen.
    to_come: usize,
    /// What went wrong, if anything did.
    pub problem: Option<String>,
}

impl Daemon {
    pub fn new(fabric: Fabric, records: Records, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(5);
        Self {
            fabric,
            records,
            rng,
            pending: Vec::new(),
            queue: VecDeque::new(),
            work: None,
            jobs: Vec::new(),
            works: 0,
            to_come: 0,
            problem: None,
        }
    }

    /// Whether something is to be done, or asked for.
    pub fn is_busy(&self) -> bool {
        self.to_come > 0 || self.work.is_some() || !self.queue.is_empty()
    }

    pub fn is_elastic(&self, job: usize) -> bool {
        self.jobs.get(job).is_some_and(|job| job.meeting.is_some())
    }
}

impl Simulation<'_> {
    /// Plans what is asked of the daemon.
    pub(crate) fn plan_live(&mut self) {
        let Some(live) = &self.options.live else { return };
        self.daemon.to_come = live.events.len();
        for (index, event) in live.events.iter().enumerate() {
            self.post_at(event.at.0, Pending::Event(index));
        }
    }

    fn post_at(&mut self, at: u64, pending: Pending) {
        let daemon = &mut self.daemon;
        daemon.pending.push(Some(pending));
        let number = daemon.pending.len() as u32 - 1;
        self.wire.events.schedule(at.max(self.wire.now + 1), EventKind::Live(number));
    }

    /// A message that takes its time.
    fn post(&mut self, pending: Pending) {
        let within = self.options.live.as_ref().map_or(0, |live| live.told_within.0);
        self.post_within(within, pending);
    }

    fn post_within(&mut self, within: u64, pending: Pending) {
        let after = self.daemon.rng.random_range(0..=within);
        self.post_at(self.wire.now + 1 + after, pending);
    }

    /// Whether the host of a process stands still.
    fn is_still(&self, id: ProcessId) -> bool {
        let host = self.processes[id.0 as usize].host;
        matches!(&self.nodes[host], Node::Host(host) if host.paused > 0)
    }

    /// Something happens that was to happen.
    pub(crate) fn live(&mut self, number: u32) -> Result<(), Error> {
        let Some(pending) = self.daemon.pending[number as usize].take() else { return Ok(()) };
        match &pending {
            Pending::Ask(id, _) | Pending::Hear(id, _) | Pending::Computed(id, _) if self.is_still(*id) => {
                self.post_at(self.wire.now + LOOK_AGAIN_NANOS, pending);
                return Ok(());
            }
            _ => {}
        }
        match pending {
            Pending::Event(index) => self.happen(index),
            Pending::Tick(job) => self.tick(job),
            Pending::Ask(id, token) => self.ask_for_run(id, token)?,
            Pending::Hear(id, life) => self.hear(id, life),
            Pending::Said(id, said) => self.said(id, said),
            Pending::Stream { job, role, life, opens } => self.stream(job, role, life, opens),
            Pending::Leaves { job, host, life, rounds } => {
                self.at_rendezvous(job, |membership, now| membership.leave(now, &host, life, rounds, true));
            }
            Pending::Computed(id, token) => self.computed(id, token),
            Pending::Lingered(id, token) => self.lingered(id, token),
            Pending::Planned(job, formation) => self.form(job, &formation)?,
            Pending::Proceed => {}
            Pending::Limit(work) => self.time_is_up(work)?,
        }
        self.proceed()
    }

    fn happen(&mut self, index: usize) {
        self.daemon.to_come -= 1;
        let Some(event) = self.options.live.as_ref().and_then(|live| live.events.get(index)) else { return };
        let (name, what) = (event.job.clone(), event.what);
        self.wire.log.note(self.wire.now, || format!("asked for: {what:?} job {name}"));
        // The newest of that name, if it was submitted again.
        let found = self.daemon.jobs.iter().rposition(|job| !job.is_gone && job.told.assignment.name == name);
        match (what, found) {
            (LiveChange::Submit, None) => self.daemon.queue.push_back(Command::Submit(name)),
            (LiveChange::Move, Some(job)) => self.daemon.queue.push_back(Command::Move(job, None)),
            (LiveChange::Delete, Some(job)) if self.daemon.is_elastic(job) => {
                self.daemon.queue.push_back(Command::Delete(job));
            }
            (LiveChange::Pause, Some(job)) => {
                self.wire.tally.pauses_of_jobs += u64::from(self.daemon.is_elastic(job));
                self.at_rendezvous(job, |membership, now| membership.pause(now));
                self.set_paused(job, true);
            }
            (LiveChange::Resume, Some(job)) => {
                self.at_rendezvous(job, |membership, now| membership.resume(now));
                self.set_paused(job, false);
            }
            _ => {}
        }
    }

    fn set_paused(&mut self, job: usize, is_paused: bool) {
        if let Some(meeting) = &mut self.daemon.jobs[job].meeting {
            meeting.is_paused = is_paused;
        }
    }
}
