//! Record of one job.

use std::collections::{BTreeSet, VecDeque};

use inart_wire::PlanVersion;
use serde::{Deserialize, Serialize};

use super::change::Change;
use super::claims::Claims;
use super::push::Push;

/// Record of one job.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobRecord {
    /// Pushes that succeeded and were not rolled back, oldest first; the last one is live.
    pub pushes: VecDeque<Push>,
    /// Unused plan versions that may still have entries: those before the live one, and those of unfinished
    /// installations.
    pub stale: BTreeSet<PlanVersion>,
    /// Hosts that have run under the live plan version.
    #[serde(default, skip_serializing_if = "Claims::is_empty")]
    pub claimed: Claims,
    /// Newest plan version of a removed job, since a plan version is never reused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<PlanVersion>,
    /// Change in flight to another plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
    /// Push that the registered hosts started with, if they have migrated since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began: Option<Box<Push>>,
    /// Newest plan version that hosts got and that was undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone: Option<PlanVersion>,
}

impl JobRecord {
    /// Returns the topology documents of its pushes.
    pub(super) fn documents_mut(&mut self) -> impl Iterator<Item = &mut String> {
        self.pushes.iter_mut().chain(self.began.as_deref_mut()).map(|push| &mut push.topology)
    }

    /// Returns the push that the hosts use.
    pub fn live(&self) -> Option<&Push> {
        self.pushes.back()
    }

    /// Returns the push that the registered hosts started with: the live one, unless they have migrated
    /// since.
    pub fn began(&self) -> Option<&Push> {
        self.began.as_deref().or(self.live())
    }

    /// Returns whether both records have the same pushes, failures and removals, regardless of registered
    /// hosts.
    pub(super) fn same_pushes(&self, other: &JobRecord) -> bool {
        (&self.pushes, &self.stale, self.removed) == (&other.pushes, &other.stale, other.removed)
            && (self.change, self.undone) == (other.change, other.undone)
    }
}
