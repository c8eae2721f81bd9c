//! What is to be done in a run with jobs that come and go, and what hosts are told and answer.

use std::fmt;

use inart_controller::membership::{Ending, Formation};
use inart_planner_aggregation::Plan;
use inart_protocol_aggregation::Assignment;
use inart_wire::{Incarnation, PlanVersion};

use crate::event_queue::ProcessId;

/// What a second host is at.
#[derive(Debug)]
pub(crate) struct Doubling {
    pub job: usize,
    pub incarnation: Incarnation,
    /// How often it has asked, and how often since the first one was away.
    pub asked: u32,
    pub beside: u32,
}

/// Something that is to happen.
#[derive(Debug)]
pub(crate) enum Pending {
    /// What the run has of jobs that come and go, by its place.
    Event(usize),
    /// A rendezvous is looked at.
    Tick(usize),
    /// A host of an elastic job asks for a view.
    Ask(ProcessId, u32),
    /// A host hears what its job is told now.
    Hear(ProcessId, Incarnation),
    /// The controller hears what became of that.
    Said(ProcessId, Said),
    /// A connection of the host in that place begins or ends.
    Stream { job: usize, role: String, incarnation: Incarnation, opens: bool },
    /// A host of an elastic job says that it takes part no more.
    Leaves { job: usize, host: String, incarnation: Incarnation, rounds: u64 },
    /// A worker of an elastic job has computed its gradient.
    Computed(ProcessId, u32),
    /// A server of an elastic job has told long enough that its view was aborted.
    Lingered(ProcessId, u32),
    /// A run has been planned.
    Planned(usize, Formation),
    /// The daemon looks whether it has something to do.
    Proceed,
    /// Hosts have had time enough for that piece of work.
    Limit(u32),
    /// A second host asks for a view; `None` for the first time.
    Double(usize, Option<Doubling>),
    /// A host is interrupted; how often it is looked whether it waits for a view.
    Interrupt(usize, u32),
    /// The process of a host starts again.
    Revive(ProcessId),
    /// Somebody begins to look whether frames of the jobs move.
    Look,
    /// And has seen it.
    Looked,
}

/// What the controller is to do, one after the other.
#[derive(Debug)]
pub(crate) enum Command {
    /// Move a job to other routes, or to that plan.
    Move(usize, Option<Box<Plan>>),
    /// Form a view.
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
                write!(f, "forms a view of job {job}: {workers} workers, {servers} servers")
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
    /// The plan version beside it, while they move.
    pub beside: Option<PlanVersion>,
    /// Where the view of an elastic job ends.
    pub ending: Ending,
    /// Counts what they are told.
    pub version: u32,
    /// Counts the runs: hosts of another one are told that theirs is over.
    pub view: u32,
}

/// A host's answer.
#[derive(Debug)]
pub(crate) struct Said {
    pub incarnation: Incarnation,
    pub view: u32,
    pub version: u32,
    pub ending: Ending,
    pub started: u32,
    pub holds: bool,
    pub moved: Result<(), String>,
}
