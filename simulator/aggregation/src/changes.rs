//! What changes of plans a run has.

use inart_planner_aggregation::Plan;
use inart_topologies::faults::quantity::{Share, Span};

/// Changes of plans during a run.
#[derive(Clone, Debug)]
pub struct Changes {
    /// How many, one after the other.
    pub count: u32,
    /// When the first begins.
    pub first: Span,
    /// Time from the end of one to the begin of the next.
    pub gap: Span,
    /// Hosts are told within this time, each at a random moment; so are they told that the old plan version
    /// is closed.
    pub told_within: Span,
    /// Whether workers follow their servers, so that all move at the same chunk; else every host moves when
    /// it is told, as after a failure.
    pub coordinated: bool,
    /// Share of changes that are undone.
    pub undone: Share,
    /// The plans: each set has one for each job, in the order of the jobs. Changes go through the sets in
    /// turns, and then back to the plans of the beginning.
    pub plans: Vec<Vec<Plan>>,
    /// Whether jobs go on with round after round until the last change is over.
    pub hold: bool,
    /// To compare with: nothing changes at all, and so much time goes by between what would be the beginning
    /// of the first change and the end of the last.
    pub pretend: Option<Span>,
}
