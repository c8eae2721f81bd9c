//! Installing plans and networks of peers, make before break: the new epoch of a plan is written beside the
//! old one on every switch and read back before anybody is told of it, so that it is safe to stop anywhere.

mod peers;
mod remove;

use std::collections::{BTreeMap, BTreeSet};

use futures::future::join_all;
use inart_protocol_aggregation::Assignment;
use inart_tables::{Limits, Op, Update, diff};
use inart_targets::{Running, Session, SwitchError, SwitchErrors};
use inart_topologies::peers::Mesh;
use inart_topologies::switched::Topology;
use inart_wire::{Epoch, JobId, ValuesPerFrame};

use crate::assignment::JobPlan;
use crate::changes;
use crate::error::{Cause, InstallError};
use crate::fabric::{Fabric, Numbers};
use crate::intent::{self, Intent, Network, Wanted};
use crate::names::Names;
use crate::peers::{Peers, is_of_peers};
use crate::ports::PortMap;
use crate::records::{PeersPush, Records, Success};

/// What an install does to one switch.
#[derive(Debug, Clone, PartialEq)]
pub struct SwitchChange {
    /// What the switch runs before; anything but ours is replaced by it.
    pub running: Running,
    /// Updates, in order.
    pub updates: Vec<Update>,
    /// Entries and groups that are right already.
    pub unchanged: usize,
}

impl SwitchChange {
    /// Number of updates of one kind.
    pub fn count(&self, op: Op) -> usize {
        self.updates.iter().filter(|update| update.op == op).count()
    }
}

/// What an install does, or did.
#[derive(Debug, Clone, PartialEq)]
pub struct InstallReport {
    /// By switch name.
    pub switches: BTreeMap<String, SwitchChange>,
    /// What to tell the hosts, in the order of the plans.
    pub assignments: Vec<Assignment>,
    /// The jobs of peers that are in force then, by name.
    pub peers: Vec<String>,
    /// Values per frame of the switches' program, which peers need.
    pub values: ValuesPerFrame,
    /// What every switch shall hold in the end.
    pub desired: Network,
    /// By job, epochs that no host uses: a switch that was not there loses their entries, too.
    pub dead: BTreeMap<JobId, BTreeSet<Epoch>>,
}

impl InstallReport {
    /// Number of updates on all switches.
    pub fn updates(&self) -> usize {
        self.switches.values().map(|change| change.updates.len()).sum()
    }
}

/// Installs plans on the switches of one network, and the network of peers that uses the same switches.
pub struct Controller<D> {
    fabric: Fabric,
    /// The network of peers to install; otherwise that of the records stays.
    given: Option<Peers>,
    switches: BTreeMap<String, D>,
    records: Records,
    replace_program: bool,
    own_epochs_only: bool,
}

impl<D: Session> Controller<D> {
    /// A controller of the topology's switches, each with its driver. `values` and `limits` are those of the
    /// program that the drivers load.
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

    /// A controller of those switches of a network that are there. Reports say what the others are to hold,
    /// too.
    pub(crate) fn on(fabric: Fabric, switches: BTreeMap<String, D>, records: Records) -> Self {
        let (given, replace_program, own_epochs_only) = (None, false, false);
        Controller { fabric, given, switches, records, replace_program, own_epochs_only }
    }

    /// Allows loading the program into switches that run another one, which clears their tables.
    pub fn replace_program(&mut self, allowed: bool) {
        self.replace_program = allowed;
    }

    /// Installs this network of peers with the next plans, or alone, in place of the one before.
    ///
    /// # Errors
    /// A network that is not part of the topology.
    pub fn give_peers(&mut self, mesh: Mesh) -> Result<(), InstallError> {
        let peers = Peers::new(mesh);
        self.fabric.set_peers(Some(peers.clone()))?;
        self.given = Some(peers);
        Ok(())
    }

    /// Never tells hosts an epoch that only the switches know, even if it is of the very plan: for who tells
    /// by the records which hosts have run under an epoch.
    pub fn own_epochs_only(&mut self, only: bool) {
        self.own_epochs_only = only;
    }

    /// Port numbers and addresses.
    pub fn ports(&self) -> &PortMap {
        &self.fabric.ports
    }

    /// The words of the topology, for the jobs of these plans and of peers.
    pub fn names(&self, plans: &[JobPlan]) -> Names<'_> {
        let names = Names::new(&self.fabric.topology, &self.fabric.ports, plans);
        match &self.fabric.peers {
            Some(peers) => names.with_peers(peers),
            None => names,
        }
    }

    /// The topology.
    pub fn topology(&self) -> &Topology {
        &self.fabric.topology
    }

    /// The network.
    pub fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// Reads the records as other processes left them.
    ///
    /// # Errors
    /// Files that cannot be read.
    pub fn refresh_records(&mut self) -> Result<(), InstallError> {
        Ok(self.records.refresh()?)
    }

    /// What was pushed so far.
    pub fn records(&self) -> &Records {
        &self.records
    }

    /// The drivers, by switch name.
    pub fn switches(&mut self) -> &mut BTreeMap<String, D> {
        &mut self.switches
    }

    /// The drivers by switch name, and the records.
    pub fn into_parts(self) -> (BTreeMap<String, D>, Records) {
        (self.switches, self.records)
    }

    /// What [`Controller::install`] would do. Changes nothing.
    ///
    /// # Errors
    /// A plan that cannot be put into tables, or a switch that does not answer.
    pub async fn preview(&mut self, jobs: &[JobPlan]) -> Result<InstallReport, InstallError> {
        Ok(self.route(0, jobs).await?.report)
    }

    /// Installs the plans, each under an epoch of its own, and leaves other jobs alone. On success every
    /// switch was read back and the hosts can be told. On failure the switches hold what they held, so that
    /// plans installed earlier go on working; what could not be undone is named, and the next install removes
    /// it.
    ///
    /// # Errors
    /// The first cause, with what could not be undone.
    pub async fn install(&mut self, jobs: &[JobPlan]) -> Result<InstallReport, InstallError> {
        self.install_instead_of(0, jobs).await
    }

    /// Installs the plan before the job's last push again, under a new epoch (an epoch is never used twice:
    /// its sequence numbers were). Ports, addresses and what all jobs share are of this controller's
    /// topology, as in any push; a plan that does not hold there any more is refused. Of a job of peers, its
    /// whole network is what it was before the last push of one.
    ///
    /// # Errors
    /// No plan before the last, and what [`Controller::install`] refuses.
    pub async fn rollback(&mut self, job: JobId) -> Result<InstallReport, InstallError> {
        self.records.refresh()?;
        if is_of_peers(job) {
            self.given = Some(self.peers_before_last(job)?);
            let done = self.install_instead_of(2, &[]).await;
            self.given = None;
            return done;
        }
        let push = self.records.before_last(job)?.clone();
        // The same plan may be live under a later epoch, so the hosts must be told another.
        let plan = JobPlan { new_epoch: true, ..push.job_plan(job) };
        self.install_instead_of(2, &[plan]).await.map_err(|error| match error {
            InstallError::Check { .. } | InstallError::Plan { .. } | InstallError::NoJob { .. } => {
                let differs = changes::since(&push, &self.fabric.topology);
                InstallError::Outdated { job: push.plan.job, differs, reason: Box::new(error) }
            }
            other => other,
        })
    }

    /// Installs the plans and strikes each job's last `struck` pushes off the records.
    async fn install_instead_of(
        &mut self,
        struck: usize,
        jobs: &[JobPlan],
    ) -> Result<InstallReport, InstallError> {
        let route = self.route(struck, jobs).await?;
        self.records.begin(&route.intent.epochs)?;
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

    /// Goes back to `tables` after a failure.
    async fn undo(&mut self, cause: Cause, tables: &Network, report: &InstallReport) -> InstallError {
        let undone = self.restore(tables).await;
        let replaced = report.switches.iter().filter(|(_, change)| change.running == Running::Other);
        let switches: Vec<_> = replaced.map(|(switch, _)| switch.clone()).collect();
        match undone {
            Err(undo) => InstallError::NotUndone { cause, undo },
            Ok(()) if switches.is_empty() => InstallError::Undone { cause },
            Ok(()) => InstallError::Replaced { cause, switches },
        }
    }

    /// Reads everything and computes the way from what is to what is wanted, in place of each job's last
    /// `struck` pushes.
    async fn route(&mut self, struck: usize, jobs: &[JobPlan]) -> Result<Route, InstallError> {
        // Others may have pushed, and hosts claimed, since the records were read.
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
        let names = peers.iter().filter(|job| !job.requirements.is_empty()).map(|job| job.name.clone());
        let names = names.collect();
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
            assignment.epoch = intent.epochs[&job.job];
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
        let report = InstallReport { switches, assignments, peers: names, values, desired, dead };
        Ok(Route { report, current, intent })
    }

    /// Goes the way and looks whether it led where it should.
    async fn write_route(&mut self, route: &Route) -> Result<(), Cause> {
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

    /// An error unless the switches hold `desired`; those that are not in it are not asked.
    async fn read_back(&mut self, desired: &Network) -> Result<(), Cause> {
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

    /// Makes every switch hold `tables` again, whatever became of it.
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

    /// Notes a success.
    fn record(
        &mut self,
        struck: usize,
        jobs: &[JobPlan],
        intent: &Intent,
    ) -> Result<(), crate::RecordsError> {
        let are_all_there = self.switches.len() == self.fabric.ports.switches().count();
        let done = jobs.iter().map(|job| {
            let epoch = intent.epochs[&job.job];
            let mut stale: BTreeSet<Epoch> =
                intent.desired.values().flat_map(|tables| tables.epochs(job.job)).collect();
            let record = self.records.jobs.get(&job.job);
            let live = record.and_then(|record| Some(record.live()?.epoch));
            if !are_all_there {
                // A switch that is away may have entries of these.
                stale.extend(record.into_iter().flat_map(|record| &record.stale).copied().chain(live));
            }
            stale.remove(&epoch);
            if let Some(open) = record.and_then(|record| record.open()).filter(|_| live == Some(epoch)) {
                stale.remove(&open);
            }
            Success { job: job.job, push: self.fabric.push(job, epoch), stale }
        });
        let done = done.collect();
        let peers = self.given.as_ref().map(|given| PeersPush {
            mesh: given.mesh.to_yaml(),
            values: self.fabric.values,
            removed: given.removed.clone(),
        });
        self.records.succeed_with_peers(struck, self.fabric.document(), done, peers)
    }

    fn wanted(&self, struck: usize, job: &JobPlan) -> Result<Wanted, InstallError> {
        let record = self.records.jobs.get(&job.job);
        let live = record.and_then(|record| record.live());
        let is_live = live.is_some_and(|live| *live == self.fabric.push(job, live.epoch));
        // Of a plan that was in force, the numbers were right when it was pushed.
        let numbers = if struck > 0 || is_live { Numbers::Taken } else { Numbers::Checked };
        let mut wanted = self.fabric.wanted(job, record, numbers)?;
        wanted.known.own_epochs_only = self.own_epochs_only;
        Ok(wanted)
    }

    /// Does `work` on all switches at once; all of them end before it returns.
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

/// From what is to what is wanted.
struct Route {
    report: InstallReport,
    current: Network,
    intent: Intent,
}

async fn write<D: Session>(driver: &mut D, updates: Vec<Update>) -> Result<(), SwitchError> {
    if updates.is_empty() { Ok(()) } else { driver.write(&updates).await }
}
