//! Scheduled actions of a run with changing jobs; instructions to hosts and their answers.

use std::fmt;

use inart_controller::membership::{Ending, Formation};
use inart_planner_aggregation::Plan;
use inart_protocol_aggregation::Assignment;
use inart_wire::{Incarnation, PlanVersion};

use crate::event_queue::ProcessId;

/// State of a duplicate host.
#[derive(Debug)]
pub(crate) struct DuplicateState {
    pub job: usize,
    pub incarnation: Incarnation,
    /// Number of requests, and of requests since the first host was absent.
    pub asked: u32,
    pub asked_with_first: u32,
}

/// Scheduled action.
#[derive(Debug)]
pub(crate) enum Pending {
    /// Index of an event of the run's options.
    Event(usize),
    /// Tick of a rendezvous.
    Tick(usize),
    /// Request of an elastic job's host for a view.
    Ask(ProcessId, u32),
    /// Arrival of the current instruction at a host.
    Receive(ProcessId, Incarnation),
    /// Arrival of the answer at the controller.
    Answered(ProcessId, Answered),
    /// Opening or closing of a host's connection.
    Stream { job: usize, role: String, incarnation: Incarnation, opens: bool },
    /// Final leave of a host of an elastic job.
    Leaves { job: usize, host: String, incarnation: Incarnation, rounds: u64 },
    /// A worker of an elastic job has computed its gradient.
    Computed(ProcessId, u32),
    /// End of the time in which a server reports its aborted view.
    Lingered(ProcessId, u32),
    /// A run has been planned.
    Planned(usize, Formation),
    /// Check of the daemon for pending commands.
    Proceed,
    /// Hosts have had time enough for that piece of work.
    Limit(u32),
    /// Request of a duplicate host for a view; `None` for the first one.
    Double(usize, Option<DuplicateState>),
    /// Interruption of a host, with the number of further checks whether it waits for a view.
    Interrupt(usize, u32),
    /// The process of a host starts again.
    Revive(ProcessId),
    /// Start of a check whether jobs send frames.
    CheckUsage,
    /// End of that check.
    EndUsageCheck,
}

/// Command of the controller, executed one at a time.
#[derive(Debug)]
pub(crate) enum Command {
    /// Migration of a job to new routes, or to the given plan.
    Move(usize, Option<Box<Plan>>),
    /// Form a view.
    Form(usize, Formation),
    /// Making room for a job of that name.
    Submit(String),
    /// Installation of a job by a plan, with the previous plans of the others.
    Install(Box<Plan>, Vec<(usize, Plan)>),
    /// Uninstallation of a job; its capacity goes to the others.
    Delete(usize),
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Move(job, _) => write!(f, "migrates job {job}"),
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

/// Instruction to the hosts of a job.
#[derive(Clone, Debug)]
pub(crate) struct Instruction {
    pub assignment: Assignment,
    /// Previous plan version, during a migration.
    pub previous: Option<PlanVersion>,
    /// End of the view of an elastic job.
    pub ending: Ending,
    /// Sequence number of the instruction.
    pub version: u32,
    /// Number of the view. Hosts of another view learn that theirs is over.
    pub view: u32,
}

/// A host's answer.
#[derive(Debug)]
pub(crate) struct Answered {
    pub incarnation: Incarnation,
    pub view: u32,
    pub version: u32,
    pub ending: Ending,
    pub started: u32,
    pub holds: bool,
    pub moved: Result<(), String>,
}
