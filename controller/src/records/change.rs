//! A job's change to another plan while it runs, as the records know it: the other epoch, and how far it is.

use inart_wire::Epoch;
use serde::{Deserialize, Serialize};

/// How far a change is. It is noted before what it says is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Tables of the other epoch are written; no host was told of it.
    Writing,
    /// Hosts are told to move to the other epoch.
    Moving,
    /// Hosts are told to move back from the other epoch.
    Undoing,
    /// The plan is in force; the other epoch is the one before, which is closed and removed.
    Closing,
}

/// A change under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// How far it is.
    pub stage: Stage,
    /// The epoch beside the one in force.
    pub other: Epoch,
}

impl Change {
    /// The epoch beside the one in force, if hosts may use it.
    pub fn open(&self) -> Option<Epoch> {
        (self.stage != Stage::Writing).then_some(self.other)
    }
}
