//! Changes of running jobs' plans: those that wait or are under way, and the last ones.

use std::collections::VecDeque;
use std::time::Instant;

use inart_planner_aggregation::Plan;
use inart_topologies::switched::Topology;
use inart_wire::{JobId, PlanVersion};

use super::hosts::Progress;
use crate::api::proto::{self, ChangeStage};
use crate::membership::Formation;

/// Changes remembered that have ended.
const HISTORY: usize = 32;
/// Changes that clients may have asked for and that have not ended.
const OPEN: usize = 64;

/// What the task that installs plans is to do.
#[derive(Debug)]
pub(super) enum Command {
    /// To move a job that runs to another plan.
    Change {
        /// The change's number.
        number: u32,
        plan: Box<Plan>,
        /// Whether its workers follow their servers; else they move when they are told.
        coordinated: bool,
    },
    /// To install a job beside those that run.
    Submit { number: u32, topology: Topology, job: String, window_chunks: Option<u32> },
    /// To take a job off the switches.
    Delete { number: u32, job: JobId, force: bool },
    /// To take a job that is paused off the switches, until its next run.
    Release { job: JobId },
    /// To form a run of an elastic job.
    Form { job: JobId, formation: Formation },
}

/// Why no further change is taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{open} changes are waiting or running: try again when some have ended")]
pub(crate) struct TooMany {
    /// How many.
    open: usize,
}

fn has_ended(change: &proto::ChangeStatus) -> bool {
    matches!(change.stage(), ChangeStage::Done | ChangeStage::Undone | ChangeStage::Refused)
}

/// What became of the changes since the controller started.
#[derive(Debug, Default)]
pub(super) struct ChangeLog {
    begun: u32,
    /// Oldest first, with the moment at which each began.
    changes: VecDeque<(Instant, proto::ChangeStatus)>,
}

impl ChangeLog {
    /// A client asks for a change of a job's plan; its number, unless many others have not ended.
    pub fn ask(&mut self, job: &str) -> Result<u32, TooMany> {
        let open = self.changes.iter().filter(|(_, change)| !has_ended(change)).count();
        if open < OPEN { Ok(self.begin(job)) } else { Err(TooMany { open }) }
    }

    /// A change of a job's plan begins; its number.
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

    /// Where a change comes from and leads to.
    pub fn leads(&mut self, number: u32, from: PlanVersion, to: PlanVersion) {
        self.update(number, |change, _| (change.from, change.to) = (from.get().into(), to.get().into()));
    }

    /// What is being done.
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

    /// Whether the workers followed their servers.
    pub fn coordinated(&mut self, number: u32, coordinated: bool) {
        self.update(number, |change, _| change.coordinated = coordinated);
    }

    /// How many updates were written to install and to remove tables.
    pub fn updates(&mut self, number: u32, written: u64, removed: u64) {
        self.update(number, |change, _| {
            change.updates_written += written;
            change.updates_removed += removed;
        });
    }

    /// How far the hosts are.
    pub fn progress(&mut self, number: u32, progress: &Progress) {
        self.update(number, |change, _| {
            change.hosts = progress.hosts as u32;
            change.confirmed = (progress.hosts - progress.missing.len() - progress.lagging.len()) as u32;
        });
    }

    /// What came of it, and why if it came to nothing; as it stands then.
    pub fn end(&mut self, number: u32, stage: ChangeStage, problem: String) -> proto::ChangeStatus {
        self.update(number, |change, since| {
            change.set_stage(stage);
            (change.problem, change.total_us) = (problem, since);
            change.clone()
        })
        .unwrap_or_default()
    }

    /// A change, if it has ended; one that is not remembered any more has.
    pub fn ended(&self, number: u32) -> Option<proto::ChangeStatus> {
        let Some((_, change)) = self.changes.iter().find(|(_, change)| change.number == number) else {
            return Some(proto::ChangeStatus { number, ..Default::default() });
        };
        has_ended(change).then(|| change.clone())
    }

    /// For the API.
    pub fn status(&self) -> Vec<proto::ChangeStatus> {
        self.changes.iter().map(|(_, change)| change.clone()).collect()
    }

    /// Changes one, by the microseconds since it began.
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
