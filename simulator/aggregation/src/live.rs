//! Jobs and hosts that change during a run.

use inart_topologies::faults::quantity::Span;

/// Job and host events of a run. The first jobs are those whose plans are installed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Live {
    /// Requests to the controller, in any order.
    pub events: Vec<LiveEvent>,
    /// Longest delay of the controller's notifications and of hosts' answers.
    pub notify_within: Span,
    /// Longest computation of workers of elastic jobs before each of their rounds.
    pub computes: Span,
    /// Time for which the first view of an elastic job waits for missing hosts.
    pub gathers_within: Span,
    /// Longest planning time.
    pub plans_within: Span,
    /// Second hosts with a name that is in use.
    pub doubles: Vec<Double>,
    /// Hosts that are interrupted while they wait for a run.
    pub interrupts: Vec<Interrupt>,
    /// Times at which jobs without frames are looked for, to remove unused ones.
    pub looks: Vec<Span>,
}

/// A second host with the name of a host of an elastic job: another process, by mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Double {
    /// Time of its first request for a view; it repeats the request once per second.
    pub at: Span,
    /// Job.
    pub job: String,
    /// Name.
    pub host: String,
    /// Number of requests before it is interrupted, and leaves; until it is refused if not given.
    pub asks: Option<u32>,
}

/// Interruption of a host of an elastic job that waits for a view: it leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interrupt {
    /// Earliest time; it leaves as soon as it waits.
    pub at: Span,
    /// Job.
    pub job: String,
    /// Host name.
    pub host: String,
    /// Delay until its process restarts, if it does.
    pub again: Option<Span>,
}

/// Request to the controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveEvent {
    /// Time.
    pub at: Span,
    /// The job, by its name in the topology.
    pub job: String,
    /// Requested change.
    pub what: LiveChange,
}

/// Change requested from the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveChange {
    /// Installation of the job next to the running ones; its hosts start then.
    Submit,
    /// Migration to new routes.
    Move,
    /// Stop of the view of an elastic job at a stop point, without starting a new one.
    Pause,
    /// Start of new views of a paused elastic job.
    Resume,
    /// Removal from the switches, although its hosts run.
    Delete,
}
