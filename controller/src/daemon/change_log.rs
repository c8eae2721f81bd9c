//! Changes of running jobs' plans: waiting and active ones, and the last completed ones.

use std::collections::VecDeque;
use std::time::Instant;

use inart_planner_aggregation::Plan;
use inart_topologies::switched::Topology;
use inart_wire::{JobId, PlanVersion};

use super::hosts::Progress;
use crate::api::proto::{self, ChangeStage};
use crate::membership::Formation;

/// Number of ended changes that are kept.
const HISTORY: usize = 32;
/// Maximum number of open changes.
const OPEN: usize = 64;

/// Command to the task that installs plans.
#[derive(Debug)]
pub(super) enum Command {
    /// Migration of a running job to another plan.
    Change {
        /// Number of the change.
        number: u32,
        plan: Box<Plan>,
        /// Whether servers coordinate the cut-over; else hosts migrate at once.
        coordinated: bool,
    },
    /// Installation of a job next to the running ones.
    Submit { number: u32, topology: Topology, job: String, window_chunks: Option<u32> },
    /// Removal of a job from the switches.
    Delete { number: u32, job: JobId, force: bool },
    /// Removal of a paused job from the switches, until its next view.
    Release { job: JobId },
    /// Formation of a view of an elastic job.
    Form { job: JobId, formation: Formation },
}

/// Error of a change beyond the maximum number of open ones.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{open} changes are waiting or active; try again after some have ended")]
pub(crate) struct TooMany {
    /// Number of open changes.
    open: usize,
}

fn has_ended(change: &proto::ChangeStatus) -> bool {
    matches!(change.stage(), ChangeStage::Done | ChangeStage::Undone | ChangeStage::Refused)
}

/// Log of changes since the controller started.
#[derive(Debug, Default)]
pub(super) struct ChangeLog {
    begun: u32,
    /// Changes with their start times, oldest first.
    changes: VecDeque<(Instant, proto::ChangeStatus)>,
}

impl ChangeLog {
    /// Opens a change that a client requests. Returns its number, or an error if too many are open.
    pub fn request(&mut self, job: &str) -> Result<u32, TooMany> {
        let open = self.changes.iter().filter(|(_, change)| !has_ended(change)).count();
        if open < OPEN { Ok(self.begin(job)) } else { Err(TooMany { open }) }
    }

    /// Opens a change. Returns its number.
    pub fn begin(&mut self, job: &str) -> u32 {
        self.begun += 1;
        let change = proto::ChangeStatus {
            number: self.begun,
            job: job.to_owned(),
            stage: ChangeStage::Waiting.into(),
            ..Default::default()
        };
        self.changes.push_back((Instant::now(), change));
        if self.changes.len() > HISTORY
            && let Some(oldest) = self.changes.iter().position(|(_, change)| has_ended(change))
        {
            self.changes.remove(oldest);
        }
        self.begun
    }

    /// Sets the old and the new plan version of a change.
    pub fn leads(&mut self, number: u32, from: PlanVersion, to: PlanVersion) {
        self.update(number, |change, _| (change.from, change.to) = (from.get().into(), to.get().into()));
    }

    /// Sets the stage of a change.
    pub fn stage(&mut self, number: u32, stage: ChangeStage) {
        self.update(number, |change, since| {
            match stage {
                ChangeStage::Migrating => change.installed_us = since,
                ChangeStage::Closing => change.migrated_us = since - change.installed_us,
                _ => {}
            }
            change.set_stage(stage);
        });
    }

    /// Sets whether servers coordinated the cut-over.
    pub fn coordinated(&mut self, number: u32, coordinated: bool) {
        self.update(number, |change, _| change.coordinated = coordinated);
    }

    /// Adds table writes that installed and removed tables.
    pub fn updates(&mut self, number: u32, written: u64, removed: u64) {
        self.update(number, |change, _| {
            change.updates_written += written;
            change.updates_removed += removed;
        });
    }

    /// Sets the progress of the hosts.
    pub fn progress(&mut self, number: u32, progress: &Progress) {
        self.update(number, |change, _| {
            change.hosts = progress.hosts as u32;
            change.confirmed = (progress.hosts - progress.missing.len() - progress.lagging.len()) as u32;
        });
    }

    /// Ends a change with its result, and a problem if it failed. Returns its final state.
    pub fn end(&mut self, number: u32, stage: ChangeStage, problem: String) -> proto::ChangeStatus {
        self.update(number, |change, since| {
            change.set_stage(stage);
            (change.problem, change.total_us) = (problem, since);
            change.clone()
        })
        .unwrap_or_default()
    }

    /// Returns a change if it has ended; changes that are no longer kept count as ended.
    pub fn ended(&self, number: u32) -> Option<proto::ChangeStatus> {
        let Some((_, change)) = self.changes.iter().find(|(_, change)| change.number == number) else {
            return Some(proto::ChangeStatus { number, ..Default::default() });
        };
        has_ended(change).then(|| change.clone())
    }

    /// Returns all changes for the API.
    pub fn status(&self) -> Vec<proto::ChangeStatus> {
        self.changes.iter().map(|(_, change)| change.clone()).collect()
    }

    /// Updates one change; `update` gets the microseconds since its start.
    fn update<T>(
        &mut self,
        number: u32,
        update: impl FnOnce(&mut proto::ChangeStatus, u64) -> T,
    ) -> Option<T> {
        let (began, change) = self.changes.iter_mut().find(|(_, change)| change.number == number)?;
        let since = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
        Some(update(change, since))
    }
}
