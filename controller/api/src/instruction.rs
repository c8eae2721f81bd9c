//! Instructions to a running host.

use inart_protocol_aggregation::{Assignment, MigrationProgress, MigrationStep};
use inart_wire::PlanVersion;

/// Instruction to a running host.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// Assignment that the host sends by. Only plan version, bitmap indices and rates differ from earlier
    /// instructions.
    pub assignment: Assignment,
    /// Another plan version whose frames the host still accepts; `None` closes all others.
    pub previous_plan_version: Option<PlanVersion>,
    /// How the host migrates from the previous plan version to the assignment's.
    pub step: MigrationStep,
    /// End of the view of an elastic job.
    pub ending: Ending,
}

/// End of the view of an elastic job. Tensors count from 0 in each view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ending {
    /// No end. Earlier instructions that were not agreed on are void.
    #[default]
    None,
    /// Request to report the number of started tensors, and to continue.
    Prepare,
    /// Request to start neither this tensor nor a later one before the next instruction.
    Before(u32),
    /// Stop point at which all workers hold: the view ends there, and the host joins again.
    Agreed(u32),
    /// Immediate end: the host leaves the view, even within a tensor, and joins again.
    Now,
}

/// Why a host does not follow an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotDone {
    /// Ended host: stop watching.
    Ended,
    /// Refusal with its reason; the host continues as before.
    Refused(String),
}

/// Progress of a host with its instruction. `started` and `is_holding` matter in elastic jobs only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostProgress {
    /// Progress of the migration to another plan version.
    pub moving: MigrationProgress,
    /// Tensors that the host has started in its view.
    pub started: u32,
    /// Whether the host has started none of the tensors from the stop point on.
    pub is_holding: bool,
}
