//! Jobs that come and go while others run, and hosts that do: what a run has of these.

use inart_faults::quantity::Span;

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
