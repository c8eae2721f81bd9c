//! Change of a running job to another plan in the records: the other plan version, and the stage.

use inart_wire::PlanVersion;
use serde::{Deserialize, Serialize};

/// Stage of a change. It is recorded before its action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Writing tables of the other plan version; no host has it.
    Writing,
    /// Migrating hosts to the other plan version.
    Moving,
    /// Migrating hosts back from the other plan version.
    Undoing,
    /// Closing the other plan version, which is the previous one; the new plan is active.
    Closing,
}

/// Change in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Stage.
    pub stage: Stage,
    /// Plan version next to the active one.
    pub other: PlanVersion,
}

impl Change {
    /// Returns the plan version next to the active one, if hosts may use it.
    pub fn open(&self) -> Option<PlanVersion> {
        (self.stage != Stage::Writing).then_some(self.other)
    }
}
