//! Jobs that come and go while others run, and hosts that do: what a run has of these.

use inart_topologies::faults::quantity::Span;

/// What happens to jobs during a run. The first jobs are those whose plans are installed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Live {
    /// What is asked of the controller, in any order.
    pub events: Vec<LiveEvent>,
    /// The controller's words, and hosts' answers, take so long at most.
    pub told_within: Span,
    /// Workers of elastic jobs compute for so long at most before each of their rounds.
    pub computes: Span,
    /// The first run of an elastic job waits so long for hosts that are not there.
    pub gathers_within: Span,
    /// Planning takes so long at most.
    pub plans_within: Span,
    /// Second hosts with a name that is in use.
    pub doubles: Vec<Double>,
    /// Hosts that are interrupted while they wait for a run.
    pub interrupts: Vec<Interrupt>,
    /// When somebody looks whether frames of the jobs move, to remove those that are not used.
    pub looks: Vec<Span>,
}

/// A second host with the name of a host of an elastic job: another process, by mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Double {
    /// When it begins to ask for a run, once per second.
    pub at: Span,
    /// The job.
    pub job: String,
    /// The name.
    pub host: String,
    /// How often it asks before it is interrupted, and leaves; until it is refused if not given.
    pub asks: Option<u32>,
}

/// A host of an elastic job that is interrupted while it waits for a run: it leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interrupt {
    /// From when on; it leaves as soon as it waits.
    pub at: Span,
    /// The job.
    pub job: String,
    /// Its name.
    pub host: String,
    /// When its process starts again after that, if it does.
    pub again: Option<Span>,
}

/// Something that is asked of the controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveEvent {
    /// When.
    pub at: Span,
    /// The job, by its name in the topology.
    pub job: String,
    /// What.
    pub what: LiveChange,
}

/// What is asked of the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveChange {
    /// To install the job beside those that run; its hosts start then.
    Submit,
    /// To move it to other routes.
    Move,
    /// To end the run of an elastic job at a boundary, and to begin none.
    Pause,
    /// To let runs of an elastic job begin again.
    Resume,
    /// To take it off the switches, though its hosts run.
    Delete,
}
