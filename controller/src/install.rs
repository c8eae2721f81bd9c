//! Installation of plans and networks of peers, make before break: the new plan version is written next to
//! the old one on every switch and read back before any host gets it. So an installation may stop at any
//! point.

mod peers;
mod remove;
mod report;
mod route;

use std::collections::{BTreeMap, BTreeSet};

use futures::future::join_all;
use inart_tables::Limits;
use inart_targets::{Session, SwitchError, SwitchErrors};
use inart_topologies::peers::Mesh;
use inart_topologies::switched::Topology;
use inart_wire::{JobId, PlanVersion, ValuesPerFrame};

use crate::assignment::JobPlan;
use crate::changes;
use crate::error::{Cause, InstallError};
use crate::fabric::Fabric;
use crate::intent::Intent;
use crate::names::Names;
use crate::peers::{Peers, is_of_peers};
use crate::ports::PortMap;
use crate::records::{PeersPush, Records, Success};
pub use report::{InstallReport, SwitchChange};

/// Installs plans on the switches of one network, and the network of peers that uses the same switches.
pub struct Controller<D> {
    fabric: Fabric,
    /// Network of peers to install; without one, that of the records stays.
    given: Option<Peers>,
    switches: BTreeMap<String, D>,
    records: Records,
    replace_program: bool,
    own_plan_versions_only: bool,
}

impl<D: Session> Controller<D> {
    /// Creates a controller of the topology's switches, each with its driver. `values` and `limits` are
    /// those of the program that the drivers load.
    ///
    /// # Errors
    /// Switches that are not the topology's, or a topology that is too large to number.
    pub fn new(
        topology: Topology,
        values: ValuesPerFrame,
        limits: Limits,
        switches: BTreeMap<String, D>,
        records: Records,
    ) -> Result<Self, InstallError> {
        let fabric = Fabric::new(topology, values, limits)?;
        fabric.ports.check_names(fabric.topology.name(), switches.keys().map(String::as_str))?;
        Ok(Self::on(fabric, switches, records))
    }

    /// Creates a controller of the reachable switches of a network. Reports include the tables of the
    /// others.
    pub(crate) fn on(fabric: Fabric, switches: BTreeMap<String, D>, records: Records) -> Self {
        let (given, replace_program, own_plan_versions_only) = (None, false, false);
        Controller { fabric, given, switches, records, replace_program, own_plan_versions_only }
    }

    /// Allows the program to be loaded into switches that run another one, which clears their tables.
    pub fn replace_program(&mut self, allowed: bool) {
        self.replace_program = allowed;
    }

    /// Installs this network of peers with the next plans, or alone, in place of the previous one.
    ///
    /// # Errors
    /// A network that is not part of the topology.
    pub fn give_peers(&mut self, mesh: Mesh) -> Result<(), InstallError> {
        let peers = Peers::new(mesh);
        self.fabric.set_peers(Some(peers.clone()))?;
        self.given = Some(peers);
        Ok(())
    }

    /// Sets whether plan versions that only the switches know are never given to hosts, even if their plan
    /// is the wanted one. A process that identifies running hosts by the records needs that.
    pub fn own_plan_versions_only(&mut self, only: bool) {
        self.own_plan_versions_only = only;
    }

    /// Returns port numbers and addresses.
    pub fn ports(&self) -> &PortMap {
        &self.fabric.ports
    }

    /// Returns the names of the topology, for the jobs of these plans and of peers.
    pub fn names(&self, plans: &[JobPlan]) -> Names<'_> {
        let names = Names::new(&self.fabric.topology, &self.fabric.ports, plans);
        match &self.fabric.peers {
            Some(peers) => names.with_peers(peers),
            None => names,
        }
    }

    /// Returns the topology.
    pub fn topology(&self) -> &Topology {
        &self.fabric.topology
    }

    /// Returns the network.
    pub fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// Reads the records again, with changes of other processes.
    ///
    /// # Errors
    /// Files that cannot be read.
    pub fn refresh_records(&mut self) -> Result<(), InstallError> {
        Ok(self.records.refresh()?)
    }

    /// Returns the records.
    pub fn records(&self) -> &Records {
        &self.records
    }

    /// Returns the drivers, by switch name.
    pub fn switches(&mut self) -> &mut BTreeMap<String, D> {
        &mut self.switches
    }

    /// Returns the drivers by switch name, and the records.
    pub fn into_parts(self) -> (BTreeMap<String, D>, Records) {
        (self.switches, self.records)
    }

    /// Computes an [installation](Controller::install) without changing anything.
    ///
    /// # Errors
    /// A plan that cannot be converted to tables, or a switch that does not answer.
    pub async fn preview(&mut self, jobs: &[JobPlan]) -> Result<InstallReport, InstallError> {
        Ok(self.route(0, jobs).await?.report)
    }

    /// Installs the plans, each under a plan version of its own, and leaves other jobs alone. On success
    /// every switch was read back, and hosts can get their assignments. On failure the switches keep their
    /// tables, so that earlier plans continue to work; the error names what could not be undone, and the
    /// next installation removes it.
    ///
    /// # Errors
    /// The first cause, with what could not be undone.
    pub async fn install(&mut self, jobs: &[JobPlan]) -> Result<InstallReport, InstallError> {
        self.install_instead_of(0, jobs).await
    }

    /// Installs the plan before the job's last push again, under a new plan version (a plan version is
    /// never reused, since its sequence numbers were used). Ports, addresses and shared entries are those
    /// of this controller's topology, as in any installation; a plan that no longer holds there is refused.
    /// For a job of peers, the whole network returns to the state before its last push.
    /// # Errors
    /// A job without an earlier plan, and the errors of [`Controller::install`].
    pub async fn rollback(&mut self, job: JobId) -> Result<InstallReport, InstallError> {
        self.records.refresh()?;
        if is_of_peers(job) {
            self.given = Some(self.peers_before_last(job)?);
            let done = self.install_instead_of(2, &[]).await;
            self.given = None;
            return done;
        }
        let push = self.records.before_last(job)?.clone();
        // The same plan may be live under a later plan version, so the hosts need a new one.
        let plan = JobPlan { new_plan_version: true, ..push.job_plan(job) };
        self.install_instead_of(2, &[plan]).await.map_err(|error| match error {
            InstallError::Check { .. } | InstallError::Plan { .. } | InstallError::NoJob { .. } => {
                let differs = changes::since(&push, &self.fabric.topology);
                InstallError::Outdated { job: push.plan.job, differs, reason: Box::new(error) }
            }
            other => other,
        })
    }

    /// Installs the plans in place of each job's last `struck` pushes in the records.
    async fn install_instead_of(
        &mut self,
        struck: usize,
        jobs: &[JobPlan],
    ) -> Result<InstallReport, InstallError> {
        let route = self.route(struck, jobs).await?;
        self.records.begin(&route.intent.plan_versions)?;
        let done = match self.write_route(&route).await {
            Ok(()) => self.record(struck, jobs, &route.intent).map_err(Cause::from),
            Err(cause) => Err(cause),
        };
        let Err(cause) = done else {
            // The records have it now, and removals change the records.
            self.given = None;
            return Ok(route.report);
        };
        Err(self.undo(cause, &route.intent.kept, &route.report).await)
    }

    /// Records a successful installation.
    fn record(
        &mut self,
        struck: usize,
        jobs: &[JobPlan],
        intent: &Intent,
    ) -> Result<(), crate::RecordsError> {
        let are_all_there = self.switches.len() == self.fabric.ports.switches().count();
        let done = jobs.iter().map(|job| {
            let plan_version = intent.plan_versions[&job.job];
            let mut stale: BTreeSet<PlanVersion> =
                intent.desired.values().flat_map(|tables| tables.plan_versions(job.job)).collect();
            let record = self.records.jobs.get(&job.job);
            let live = record.and_then(|record| Some(record.live()?.plan_version));
            if !are_all_there {
                // A missing switch may have entries of these.
                stale.extend(record.into_iter().flat_map(|record| &record.stale).copied().chain(live));
            }
            stale.remove(&plan_version);
            if let Some(open) = record.and_then(|record| record.open()).filter(|_| live == Some(plan_version))
            {
                stale.remove(&open);
            }
            Success { job: job.job, push: self.fabric.push(job, plan_version), stale }
        });
        let done = done.collect();
        let peers = self.given.as_ref().map(|given| PeersPush {
            mesh: given.mesh.to_yaml(),
            values: self.fabric.values,
            removed: given.removed.clone(),
        });
        self.records.succeed_with_peers(struck, self.fabric.document(), done, peers)
    }

    /// Runs `work` on all switches at once; all of them end before it returns.
    pub(crate) async fn on_all<T>(
        &mut self,
        work: impl AsyncFn(&str, &mut D) -> Result<T, SwitchError>,
    ) -> Result<BTreeMap<String, T>, SwitchErrors> {
        let work = &work;
        let all = self.switches.iter_mut().map(async |(switch, driver)| (switch, work(switch, driver).await));
        let (mut done, mut failed) = (BTreeMap::new(), Vec::new());
        for (switch, result) in join_all(all).await {
            match result {
                Ok(value) => drop(done.insert(switch.clone(), value)),
                Err(error) => failed.push((switch.clone(), error)),
            }
        }
        if failed.is_empty() { Ok(done) } else { Err(SwitchErrors(failed)) }
    }
}
