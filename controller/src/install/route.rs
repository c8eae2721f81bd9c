//! Transition from the current tables of the switches to the wanted ones: computed, written and, on
//! failure, undone.

use std::collections::BTreeMap;

use inart_tables::{Op, Update, diff};
use inart_targets::{Running, Session, SwitchError, SwitchErrors};

use super::Controller;
use super::report::{InstallReport, SwitchChange};
use crate::assignment::JobPlan;
use crate::error::{Cause, InstallError};
use crate::fabric::Numbers;
use crate::intent::{self, Intent, Network, Wanted};

/// Transition from current to wanted tables.
pub(super) struct Route {
    pub report: InstallReport,
    pub current: Network,
    pub intent: Intent,
}

impl<D: Session> Controller<D> {
    /// Reads everything and computes the transition, in place of each job's last `struck` pushes.
    pub(super) async fn route(&mut self, struck: usize, jobs: &[JobPlan]) -> Result<Route, InstallError> {
        // Other processes may have changed the records since they were read.
        self.records.refresh()?;
        let (mut wanted, mut assignments) = (Vec::with_capacity(jobs.len()), Vec::with_capacity(jobs.len()));
        for job in jobs {
            if wanted.iter().any(|other: &Wanted| other.job == job.job) {
                return Err(InstallError::JobTwice { job: job.job });
            }
            wanted.push(self.wanted(struck, job)?);
            assignments.push(self.fabric.assignment(job)?);
        }
        let peers = self.wanted_of_peers(struck, jobs)?;
        let named = peers.iter().map(|job| (job.job, job.name.clone()));
        let (active_peers, removed): (BTreeMap<_, _>, BTreeMap<_, _>) = named.partition(|(number, _)| {
            peers.iter().any(|job| job.job == *number && !job.requirements.is_empty())
        });
        wanted.extend(peers);
        let running = self.on_all(async |_, driver| driver.running().await).await?;
        if !self.replace_program
            && let Some((switch, _)) = running.iter().find(|(_, running)| **running == Running::Other)
        {
            return Err(InstallError::OtherProgram { switch: switch.clone() });
        }
        let current = self.on_all(async |switch, driver| match running[switch] {
            Running::Ours => driver.read().await,
            Running::Nothing | Running::Other => Ok(Default::default()),
        });
        let current = current.await?;
        self.check_alone(&current)?;
        let intent = intent::intent(&self.fabric.ports, self.fabric.limits, &current, &wanted)?;
        for (job, assignment) in jobs.iter().zip(&mut assignments) {
            assignment.plan_version = intent.plan_versions[&job.job];
        }
        let switches = running.into_iter().map(|(switch, running)| {
            let (kept, desired) = (&intent.kept[&switch], &intent.desired[&switch]);
            let mut updates = diff(&current[&switch], kept);
            updates.extend(diff(kept, desired));
            let fresh = updates.iter().filter(|u| u.op != Op::Delete && !u.item.is_default()).count();
            (switch, SwitchChange { running, updates, unchanged: desired.len() - fresh })
        });
        let (switches, values) = (switches.collect(), self.fabric.values);
        let (desired, dead) = (intent.desired.clone(), intent.dead.clone());
        let peers = active_peers;
        let report = InstallReport { switches, assignments, peers, removed, values, desired, dead };
        Ok(Route { report, current, intent })
    }

    /// Writes the transition, and verifies the result.
    pub(super) async fn write_route(&mut self, route: &Route) -> Result<(), Cause> {
        let Route { report, current, intent } = route;
        self.on_all(async |switch, driver| match report.switches[switch].running {
            Running::Ours => Ok(()),
            Running::Nothing | Running::Other => driver.load_program().await,
        })
        .await?;
        for (from, to) in [(current, &intent.kept), (&intent.kept, &intent.desired)] {
            self.on_all(async |switch, driver| write(driver, diff(&from[switch], &to[switch])).await).await?;
        }
        self.read_back(&intent.desired).await
    }

    /// Verifies that the switches hold `desired`; switches without an entry there are skipped.
    pub(super) async fn read_back(&mut self, desired: &Network) -> Result<(), Cause> {
        let found = self.on_all(async |switch, driver| match desired.contains_key(switch) {
            true => driver.read().await.map(Some),
            false => Ok(None),
        });
        for (switch, found) in found.await? {
            let Some((found, desired)) = found.zip(desired.get(&switch)) else { continue };
            if let Some(update) = diff(&found, desired).into_iter().next() {
                let update = self.names(&[]).describe(&switch, &update);
                return Err(Cause::Differs { switch, update });
            }
        }
        Ok(())
    }

    /// Writes `tables` to every switch again, whatever it holds.
    async fn restore(&mut self, tables: &Network) -> Result<(), SwitchErrors> {
        self.on_all(async |switch, driver| {
            if driver.running().await? != Running::Ours {
                return Ok(());
            }
            let Some(tables) = tables.get(switch) else { return Ok(()) };
            let found = driver.read().await?;
            write(driver, diff(&found, tables)).await
        })
        .await?;
        Ok(())
    }

    fn wanted(&self, struck: usize, job: &JobPlan) -> Result<Wanted, InstallError> {
        let record = self.records.jobs.get(&job.job);
        let live = record.and_then(|record| record.live());
        let is_live = live.is_some_and(|live| *live == self.fabric.push(job, live.plan_version));
        // Numbers of an earlier plan were right when it was pushed.
        let numbers = if struck > 0 || is_live { Numbers::Unchecked } else { Numbers::Checked };
        let mut wanted = self.fabric.wanted(job, record, numbers)?;
        wanted.known.own_plan_versions_only = self.own_plan_versions_only;
        Ok(wanted)
    }

    /// Restores `tables` after a failure.
    pub(super) async fn undo(
        &mut self,
        cause: Cause,
        tables: &Network,
        report: &InstallReport,
    ) -> InstallError {
        let undone = self.restore(tables).await;
        let replaced = report.switches.iter().filter(|(_, change)| change.running == Running::Other);
        let switches: Vec<_> = replaced.map(|(switch, _)| switch.clone()).collect();
        match undone {
            Err(undo) => InstallError::NotUndone { cause, undo },
            Ok(()) if switches.is_empty() => InstallError::Undone { cause },
            Ok(()) => InstallError::Replaced { cause, switches },
        }
    }
}

pub(super) async fn write<D: Session>(driver: &mut D, updates: Vec<Update>) -> Result<(), SwitchError> {
    if updates.is_empty() { Ok(()) } else { driver.write(&updates).await }
}
