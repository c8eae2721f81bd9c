//! Current work of the daemon.

use inart_controller::LiveChange;
use inart_planner_aggregation::Plan;

use super::orders::Instruction;

/// Current work of the daemon.
pub(crate) enum Work {
    /// A run of that job is being planned.
    Forming(usize),
    /// Migration of a job.
    Move(Box<Moving>),
}

/// A job that migrates.
pub(crate) struct Moving {
    pub number: u32,
    pub job: usize,
    /// Requested plan, if given.
    pub plan: Option<Plan>,
    /// After the start: the change, and the previous instruction to the hosts.
    pub change: Option<(LiveChange, Instruction)>,
    pub step: Step,
}

/// Step of a migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// All hosts carry out the previous instruction first.
    Before,
    /// Hosts migrate.
    There,
    /// Hosts close the previous plan version.
    Closing,
    /// Hosts migrate back.
    Back,
    /// Hosts close the other plan version.
    ClosingOther,
}
