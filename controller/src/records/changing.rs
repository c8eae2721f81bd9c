//! Records of changes of running jobs.

use std::collections::BTreeSet;

use inart_wire::{Incarnation, JobId, PlanVersion};

use super::change::{Change, Stage};
use super::{HISTORY, JobRecord, Push, Records, RecordsError};

impl JobRecord {
    /// Returns the plan version next to the active one that hosts may use.
    pub fn open(&self) -> Option<PlanVersion> {
        self.change.as_ref().and_then(Change::open)
    }

    /// Removes the change: another plan is active for new hosts, or the change was undone. A plan version
    /// that hosts got is never reused.
    pub(super) fn drop_change(&mut self) {
        match self.change.take() {
            Some(Change { stage: Stage::Moving | Stage::Undoing, other }) => {
                self.undone = crate::intent::newest(self.undone.into_iter().chain([other]));
                self.stale.insert(other);
            }
            Some(Change { stage: Stage::Writing | Stage::Closing, other }) => {
                self.stale.insert(other);
            }
            None => {}
        }
    }

    /// Adds a push, which becomes live, and drops the oldest above the limit.
    pub(super) fn add(&mut self, push: Push) {
        if self.pushes.len() == HISTORY {
            self.pushes.pop_front();
        }
        self.pushes.push_back(push);
    }
}

impl Records {
    /// Records the stage of a job's change.
    ///
    /// # Errors
    /// Files that cannot be read or written.
    pub fn note_change(&mut self, job: JobId, stage: Stage, other: PlanVersion) -> Result<(), RecordsError> {
        self.change_jobs([job].iter(), |records| {
            records.jobs.entry(job).or_default().change = Some(Change { stage, other });
        })
    }

    /// Records that all hosts of a job have migrated to `push`, which becomes active; registered hosts are
    /// registered under it. The previous plan version must be closed and removed.
    ///
    /// # Errors
    /// Files that cannot be read or written.
    pub fn commit_change(&mut self, job: JobId, push: Push) -> Result<(), RecordsError> {
        self.change_jobs([job].iter(), |records| {
            records.topology = Some(push.topology.clone());
            records.values = Some(push.values);
            let record = records.jobs.entry(job).or_default();
            if let Some(before) = record.live().cloned() {
                record.change = Some(Change { stage: Stage::Closing, other: before.plan_version });
                record.began.get_or_insert(Box::new(before));
            }
            record.add(push);
        })
    }

    /// Records the start of a view of an elastic job, under `push` or the live one, with its roles. No host
    /// uses earlier plan versions, and none has entries.
    ///
    /// # Errors
    /// Files that cannot be read or written.
    pub fn begin_view(
        &mut self,
        job: JobId,
        push: Option<Push>,
        roles: Vec<(String, Incarnation)>,
    ) -> Result<(), RecordsError> {
        self.change_jobs([job].iter(), |records| {
            let record = records.jobs.entry(job).or_default();
            if let Some(push) = push {
                record.drop_change();
                (record.began, record.stale) = (None, BTreeSet::new());
                record.add(push);
            }
            record.claimed.replace(roles);
        })
    }

    /// Records the end of a job's change, with any result. Of its unused plan versions, those of `stale`
    /// may still have entries.
    ///
    /// # Errors
    /// Files that cannot be read or written.
    pub fn end_change(&mut self, job: JobId, stale: BTreeSet<PlanVersion>) -> Result<(), RecordsError> {
        self.change_jobs([job].iter(), |records| {
            let record = records.jobs.entry(job).or_default();
            record.drop_change();
            record.stale = stale;
        })
    }
}
