//! A job's change to another plan while it runs, as the records know it: the other plan version, and how far
//! it is.

use inart_wire::PlanVersion;
use serde::{Deserialize, Serialize};

/// How far a change is. It is noted before what it says is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Tables of the other plan version are written; no host was told of it.
    Writing,
    /// Hosts are told to move to the other plan version.
    Moving,
    /// Hosts are told to move back from the other plan version.
    Undoing,
    /// The plan is in force; the other plan version is the one before, which is closed and removed.
    Closing,
}

/// A change under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// How far it is.
    pub stage: Stage,
    /// The plan version beside the one in force.
    pub other: PlanVersion,
}

impl Change {
    /// The plan version beside the one in force, if hosts may use it.
    pub fn open(&self) -> Option<PlanVersion> {
        (self.stage != Stage::Writing).then_some(self.other)
    }
}
