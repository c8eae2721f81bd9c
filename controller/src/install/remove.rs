//! Removal of jobs from the switches: their entries under every plan version, with slots and multicast
//! groups. Shared entries and those of other jobs stay; routes to peers go with the last job of peers.

use std::collections::{BTreeMap, BTreeSet};

use inart_tables::{SwitchTables, diff};
use inart_targets::{Running, Session};
use inart_wire::JobId;

use super::Controller;
use super::report::{InstallReport, SwitchChange};
use super::route::write;
use crate::error::{Cause, InstallError};
use crate::held::{self, HeldJob};
use crate::intent::{Network, newest};
use crate::ports::is_of_peer;

impl<D: Session> Controller<D> {
    /// Returns the jobs that the switches hold or the records list, by number.
    ///
    /// # Errors
    /// A switch that does not answer.
    pub async fn held(&mut self) -> Result<Vec<HeldJob>, InstallError> {
        self.records.refresh()?;
        let current = self.current().await?;
        let peers = self.recorded()?;
        Ok(held::of(&current, &self.records, peers.as_ref(), &self.fabric.topology))
    }

    /// Computes a [removal](Controller::remove) without changing anything.
    ///
    /// # Errors
    /// A switch that does not answer.
    pub async fn preview_removal(&mut self, jobs: &BTreeSet<JobId>) -> Result<InstallReport, InstallError> {
        Ok(self.removal(jobs).await?.1)
    }

    /// Removes jobs from all switches, which are read back, and from the records, which keep the jobs'
    /// newest plan versions. On failure the switches keep their tables. Does not check whether hosts of the
    /// jobs still run.
    ///
    /// # Errors
    /// The first cause, with what could not be undone.
    pub async fn remove(&mut self, jobs: &BTreeSet<JobId>) -> Result<InstallReport, InstallError> {
        let (current, report) = self.removal(jobs).await?;
        let plan_versions =
            |job: &JobId| newest(current.values().flat_map(|tables| tables.plan_versions(*job)));
        let newest: BTreeMap<_, _> = jobs.iter().map(|job| (*job, plan_versions(job))).collect();
        let done = match self.write_removal(&report).await {
            Ok(()) => self.records.forget(&newest).map_err(Cause::from),
            Err(cause) => Err(cause),
        };
        match done {
            Ok(()) => Ok(report),
            Err(cause) => Err(self.undo(cause, &current, &report).await),
        }
    }

    /// Reads the switches with our program, and computes the removal.
    async fn removal(&mut self, jobs: &BTreeSet<JobId>) -> Result<(Network, InstallReport), InstallError> {
        self.records.refresh()?;
        let current = self.current().await?;
        // For names in messages. Peers that the topology no longer has are removed under their numbers.
        if let Err(error) = self.fabric.set_peers(self.recorded()?) {
            tracing::warn!("peers are named by their numbers: {error}");
            self.fabric.set_peers(None)?;
        }
        let (switches, assignments) = (BTreeMap::new(), Vec::new());
        let (peers, removed) = (BTreeMap::new(), BTreeMap::new());
        let (values, desired, dead) = (self.fabric.values, Network::new(), BTreeMap::new());
        let mut report = InstallReport { switches, assignments, peers, removed, values, desired, dead };
        for (switch, tables) in &current {
            let mut desired = tables.clone();
            jobs.iter().for_each(|job| desired.retire(*job, |_| true));
            if desired.updates.is_empty() && desired.receivers.is_empty() {
                desired.mac.retain(|key, _| !is_of_peer(key.dst));
            }
            let (updates, unchanged) = (diff(tables, &desired), desired.len());
            report
                .switches
                .insert(switch.clone(), SwitchChange { running: Running::Ours, updates, unchanged });
            report.desired.insert(switch.clone(), desired);
        }
        Ok((current, report))
    }

    async fn write_removal(&mut self, report: &InstallReport) -> Result<(), Cause> {
        self.on_all(async |switch, driver| match report.switches.get(switch) {
            Some(change) => write(driver, change.updates.clone()).await,
            None => Ok(()),
        })
        .await?;
        self.read_back(&report.desired).await
    }

    /// Reads the tables of switches with our program; others hold no job.
    async fn current(&mut self) -> Result<Network, InstallError> {
        let all = self.on_all(async |_, driver| match driver.running().await? {
            Running::Ours => driver.read().await.map(Some),
            Running::Nothing | Running::Other => Ok(None::<SwitchTables>),
        });
        Ok(all.await?.into_iter().filter_map(|(switch, tables)| Some((switch, tables?))).collect())
    }
}
