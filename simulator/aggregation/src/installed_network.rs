//! A network with plans installed, ready to be run any number of times.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::executor::block_on;
use inart_controller::requirements::{self, Roles};
use inart_controller::{
    Controller, Fabric, InstallError, InstallReport, JobPlan, Known, PortMap, Records, Wanted, assignment,
    frames_fit, intent, job_number,
};
use inart_planner_aggregation::Plan;
use inart_protocol_aggregation::Assignment;
use inart_tables::SwitchTables;
use inart_targets::{Memory, Running};
use inart_topologies::switched::{NodeKind, Topology};
use inart_wire::PlanVersion;

use crate::{Dataplane, Error};

/// A topology whose switches hold the controller's tables for some plans.
#[derive(Clone, Debug)]
pub struct InstalledNetwork {
    pub(crate) topology: Topology,
    pub(crate) ports: PortMap,
    pub(crate) dataplane: Arc<Dataplane>,
    pub(crate) assignments: Vec<Assignment>,
    /// Tables, by name of the switch.
    pub(crate) tables: BTreeMap<String, SwitchTables>,
    pub(crate) jobs: Vec<JobPlan>,
    pub(crate) records: Records,
}

/// A plan under a new plan version, installed next to the active one.
pub(crate) struct StagedPlan {
    /// Tables of every switch.
    pub tables: BTreeMap<String, SwitchTables>,
    /// Assignment of the hosts of the job.
    pub assignment: Assignment,
}

impl InstalledNetwork {
    /// Installs one plan for each job that runs, by the real controller with switches in memory. The plans
    /// are pushed twice, so that entries of an older plan version exist, as after a push during training.
    ///
    /// # Errors
    /// [`Error`] for a plan of a job that the topology lacks, or one that cannot be installed, and for links
    /// that do not carry the frames.
    pub fn install(
        topology: &Topology,
        dataplane: &Arc<Dataplane>,
        plans: &[Plan],
        window_chunks: u32,
    ) -> Result<Self, Error> {
        frames_fit(topology, dataplane.values)
            .map_err(|problem| Error::Option { option: "values", problem: problem.to_string() })?;
        let job = |plan: &Plan| {
            let job = job_number(topology, &plan.job).ok_or_else(|| Error::NoJob {
                job: plan.job.clone(),
                topology: topology.name().to_owned(),
            })?;
            Ok(JobPlan { job, plan: plan.clone(), window_chunks, rate_scale: 1.0, new_plan_version: true })
        };
        let mut jobs = plans.iter().map(job).collect::<Result<Vec<_>, Error>>()?;
        let switches = topology.nodes().iter().filter(|node| node.kind == NodeKind::Switch);
        let drivers = switches.map(|node| (node.name.clone(), Memory::new(dataplane.limits))).collect();
        let values = dataplane.values;
        let mut controller =
            Controller::new(topology.clone(), values, dataplane.limits, drivers, Records::default())?;
        let _older = block_on(controller.install(&jobs))?;
        let InstallReport { assignments, .. } = block_on(controller.install(&jobs))?;
        let (ports, records) = (controller.ports().clone(), controller.records().clone());
        let tables = controller.switches().iter().map(|(name, memory)| (name.clone(), memory.tables.clone()));
        let tables = tables.collect();
        jobs.iter_mut().for_each(|job| job.new_plan_version = false);
        let topology = topology.clone();
        Ok(Self { topology, ports, dataplane: Arc::clone(dataplane), assignments, tables, jobs, records })
    }

    /// Creates a network whose switches hold `tables`, and whose hosts have `assignments`.
    pub(crate) fn holding(
        topology: &Topology,
        ports: &PortMap,
        dataplane: &Arc<Dataplane>,
        tables: BTreeMap<String, SwitchTables>,
        assignments: Vec<Assignment>,
        jobs: &[JobPlan],
    ) -> Self {
        Self {
            topology: topology.clone(),
            ports: ports.clone(),
            dataplane: Arc::clone(dataplane),
            assignments,
            tables,
            jobs: jobs.to_vec(),
            records: Records::default(),
        }
    }

    /// Limits the sending rate of each job, in bits of Ethernet frames per worker and second.
    pub fn limit_rates(&mut self, rates_bps: &[f64]) {
        for ((job, assignment), rate_bps) in self.jobs.iter_mut().zip(&mut self.assignments).zip(rates_bps) {
            let scale = (rate_bps / (job.plan.rate_bps * job.rate_scale)).min(1.0);
            job.rate_scale *= scale;
            assignment.shards.iter_mut().for_each(|shard| shard.rate_bps *= scale);
        }
    }

    /// The plans, in the order of the jobs.
    pub fn plans(&self) -> Vec<Plan> {
        self.jobs.iter().map(|job| job.plan.clone()).collect()
    }

    /// Another network of the same kind of switches, with those plans installed.
    ///
    /// # Errors
    /// As [`install`](Self::install).
    pub fn another(&self, topology: &Topology, plans: &[Plan], window_chunks: u32) -> Result<Self, Error> {
        Self::install(topology, &self.dataplane, plans, window_chunks)
    }

    /// Returns the assignment of each job's hosts.
    pub fn assignments(&self) -> &[Assignment] {
        &self.assignments
    }

    /// Returns the topology.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Returns the fabric that plan changes are computed from.
    pub(crate) fn fabric(&self) -> Result<Fabric, Error> {
        Ok(Fabric::new(self.topology.clone(), self.dataplane.values, self.dataplane.limits)?)
    }

    /// Returns a plan under a new plan version next to the switches' tables. `live` is the plan version of
    /// the job's hosts, and `newest` the newest one ever used.
    pub(crate) fn stage(
        &self,
        held: &BTreeMap<String, SwitchTables>,
        job: usize,
        plan: &Plan,
        live: PlanVersion,
        newest: PlanVersion,
    ) -> Result<StagedPlan, Error> {
        let job = &self.jobs[job];
        // A plan of the network's own was scaled.
        let rate_scale = if *plan == job.plan { job.rate_scale } else { 1.0 };
        let job = JobPlan { plan: plan.clone(), new_plan_version: true, rate_scale, ..job.clone() };
        let workers = self.topology.job_named(&plan.job).into_iter().flat_map(|found| &found.workers);
        let names = workers.map(|worker| self.topology.node(*worker).name.as_str());
        let wrong =
            |source| Error::from(InstallError::Plan { job: plan.job.clone(), reason: Box::new(source) });
        let roles = Roles::new(names, plan).map_err(wrong)?;
        let mut assignment =
            assignment::of_job(&self.ports, &roles, &job, self.dataplane.values).map_err(wrong)?;
        let wanted = Wanted {
            job: job.job,
            name: plan.job.clone(),
            requirements: requirements::of_plan(&self.ports, &roles, plan).map_err(wrong)?,
            window: job.window_chunks,
            new_plan_version: true,
            // No host uses an undone plan version, now or later.
            known: Known { live: Some(live), removed: Some(newest), ..Known::default() },
        };
        let intent =
            intent(&self.ports, self.dataplane.limits, held, &[wanted]).map_err(InstallError::from)?;
        assignment.plan_version = intent.plan_versions[&job.job];
        Ok(StagedPlan { tables: intent.desired, assignment })
    }

    /// Returns the controller's tables for a switch that has lost all state, while the others keep theirs.
    pub(crate) fn reinstall(&self, restarted: &str) -> Result<SwitchTables, Error> {
        let limits = self.dataplane.limits;
        let memory = |(name, tables): (&String, &SwitchTables)| {
            let mut memory = Memory::new(limits);
            if name != restarted {
                (memory.running, memory.tables) = (Running::Ours, tables.clone());
            }
            (name.clone(), memory)
        };
        let drivers = self.tables.iter().map(memory).collect();
        let values = self.dataplane.values;
        let mut controller =
            Controller::new(self.topology.clone(), values, limits, drivers, self.records.clone())?;
        block_on(controller.install(&self.jobs))?;
        Ok(controller.switches().remove(restarted).map(|memory| memory.tables).unwrap_or_default())
    }
}
