//! What a host that runs is told.

use inart_protocol_aggregation::{Assignment, MigrationProgress, MigrationStep};
use inart_wire::PlanVersion;

/// What a host that runs is to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// By which it sends from then on. It differs from the one before in plan version, bitmap indices and
    /// rates only.
    pub assignment: Assignment,
    /// Another plan version by which frames of the job still come; `None` closes all others.
    pub previous_plan_version: Option<PlanVersion>,
    /// How it comes from there to the assignment's plan version.
    pub step: MigrationStep,
    /// Where its run ends, if the job is elastic.
    pub ending: Ending,
}

/// What a host of an elastic job is told about the end of its run. Tensors count from 0 in each run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ending {
    /// Nothing. What it has been told before and is not agreed on does not hold any more.
    #[default]
    None,
    /// To say how many tensors it has started, and to go on.
    Prepare,
    /// To start neither this tensor nor any later one before it is told more.
    Before(u32),
    /// All workers do that: the run ends there, and the host joins again.
    Agreed(u32),
    /// The run has ended: the host leaves it, in the middle of a tensor too, and joins again.
    Now,
}

/// Why a host does not do as instructed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotDone {
    /// It runs no more: nobody follows any longer.
    Ended,
    /// It goes on as before, for this reason.
    Refused(String),
}

/// How far a host is with what it was told. Without an elastic job, the end of its run is nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// With its move to another plan version.
    pub moving: MigrationProgress,
    /// Tensors that it has started in the run.
    pub started: u32,
    /// Whether it has started none of those that it was told not to start.
    pub is_holding: bool,
}
