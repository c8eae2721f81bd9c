//! Plan changes of a run.

use inart_planner_aggregation::Plan;
use inart_topologies::faults::quantity::{Share, Span};

/// Changes of plans during a run.
#[derive(Clone, Debug)]
pub struct Changes {
    /// Number of consecutive changes.
    pub count: u32,
    /// Start of the first change.
    pub first: Span,
    /// Time from the end of one change to the start of the next.
    pub gap: Span,
    /// Longest notification delay. Each host is notified of a change, and of the closing of the old plan
    /// version, after a random delay within this time.
    pub notify_within: Span,
    /// Whether servers coordinate the cut-over, so that all hosts migrate at the same chunk. Otherwise each
    /// host migrates when it is notified, as after a failure.
    pub coordinated: bool,
    /// Share of changes that are undone.
    pub undone: Share,
    /// Plan sets, each with one plan per job in job order. Changes cycle through the sets, then return to the
    /// initial plans.
    pub plans: Vec<Vec<Plan>>,
    /// Whether jobs run further rounds until the last change ends.
    pub hold: bool,
    /// Baseline without changes: the time between the start of the first and the end of the last pretended
    /// change.
    pub pretend: Option<Span>,
}
