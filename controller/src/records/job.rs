//! State of one job.

use std::collections::{BTreeSet, VecDeque};

use inart_wire::PlanVersion;
use serde::{Deserialize, Serialize};

use super::change::Change;
use super::claims::Claims;
use super::push::Push;

/// State of one job.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobRecord {
    /// The pushes that succeeded and were not rolled back, oldest first; the last is live.
    pub pushes: VecDeque<Push>,
    /// Plan versions that may still have entries though no host uses them: those before the live one, and
    /// those of pushes that were begun and not finished.
    pub stale: BTreeSet<PlanVersion>,
    /// Hosts that have run under the live plan version.
    #[serde(default, skip_serializing_if = "Claims::is_empty")]
    pub claimed: Claims,
    /// Of a job that was removed: its newest plan version, since a plan version is never used twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<PlanVersion>,
    /// The change to another plan that is under way while the job runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
    /// The push by which the hosts that have run began, if they were moved to others since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began: Option<Box<Push>>,
    /// The newest plan version that hosts were told and that was given up again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone: Option<PlanVersion>,
}

impl JobRecord {
    /// The documents of the topologies of its pushes.
    pub(super) fn documents_mut(&mut self) -> impl Iterator<Item = &mut String> {
        self.pushes.iter_mut().chain(self.began.as_deref_mut()).map(|push| &mut push.topology)
    }

    /// The push that the hosts follow.
    pub fn live(&self) -> Option<&Push> {
        self.pushes.back()
    }

    /// The push by which the hosts that have run began: the live one, unless they were moved since.
    pub fn began(&self) -> Option<&Push> {
        self.began.as_deref().or(self.live())
    }

    /// Whether the same pushes succeeded, failed and were removed, whoever runs.
    pub(super) fn same_pushes(&self, other: &JobRecord) -> bool {
        (&self.pushes, &self.stale, self.removed) == (&other.pushes, &other.stale, other.removed)
            && (self.change, self.undone) == (other.change, other.undone)
    }
}
