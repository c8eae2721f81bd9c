//! The network that plans are put on: what a plan asks of it is a pure function of this and the records.

use std::borrow::Cow;

use inart_planner_aggregation::{Plan, Violation};
use inart_protocol_aggregation::Assignment;
use inart_tables::Limits;
use inart_topologies::switched::{Job, Topology};
use inart_wire::{Epoch, ValuesPerPacket};

use crate::assignment::{self, JobPlan};
use crate::error::InstallError;
use crate::intent::{Known, Wanted};
use crate::members::members;
use crate::pipes;
use crate::ports::PortMap;
use crate::records::{JobRecord, Push};
use crate::requirements::{self, Roles};

/// A network: its topology, its port numbers and addresses, and what its switches' program takes.
#[derive(Clone)]
pub struct Fabric {
    pub(crate) topology: Topology,
    pub(crate) ports: PortMap,
    pub(crate) values: ValuesPerPacket,
    pub(crate) limits: Limits,
}

/// Which numbers of a plan must be those that the topology gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// All: the plan was made for this topology.
    Checked,
    /// None: rates and loads were right when it was made, for other capacities or other background traffic.
    Taken,
}

impl Fabric {
    /// The network of a topology; `values` and `limits` are those of the program that its switches run.
    ///
    /// # Errors
    /// A topology that is too large to number.
    pub fn new(topology: Topology, values: ValuesPerPacket, limits: Limits) -> Result<Self, InstallError> {
        let ports = PortMap::new(&topology)?;
        ports.check_ports(limits.ports)?;
        Ok(Self { topology, ports, values, limits })
    }

    /// The job of a plan. Of an elastic one, those of its hosts that the plan is for.
    fn job_of(&self, plan: &Plan) -> Result<Cow<'_, Job>, InstallError> {
        let found = self.topology.job_named(&plan.job).ok_or_else(|| InstallError::NoJob {
            job: plan.job.clone(),
            topology: self.topology.name().to_owned(),
        })?;
        Ok(members(&self.topology, found, plan))
    }

    /// Who is who in a plan.
    pub(crate) fn roles<'a>(&'a self, job: &'a JobPlan) -> Result<Roles<'a>, InstallError> {
        let plan = &job.plan;
        let found = self.job_of(plan)?;
        let workers = found.workers.iter().map(|worker| self.topology.node(*worker).name.as_str());
        Roles::new(workers.collect::<Vec<_>>(), plan).map_err(|source| InstallError::plan(&plan.job, source))
    }

    /// What the hosts are told, under an epoch yet to be chosen.
    pub(crate) fn assignment(&self, job: &JobPlan) -> Result<Assignment, InstallError> {
        let assignment = assignment::of_job(&self.ports, &self.roles(job)?, job, self.values);
        assignment.map_err(|source| InstallError::plan(&job.plan.job, source))
    }

    /// What the records note of a push.
    pub(crate) fn push(&self, job: &JobPlan, epoch: Epoch) -> Push {
        Push {
            epoch,
            plan: job.plan.clone(),
            topology: self.topology.to_yaml(),
            values: self.values,
            window_chunks: job.window_chunks,
            rate_scale: job.rate_scale,
        }
    }

    /// What a plan asks of the switches, if it holds on this network, and what is known of its job.
    pub(crate) fn wanted(
        &self,
        job: &JobPlan,
        record: Option<&JobRecord>,
        numbers: Numbers,
    ) -> Result<Wanted, InstallError> {
        let roles = self.roles(job)?;
        let topology = match self.job_of(&job.plan)? {
            // The plan is for those of its hosts that are there.
            Cow::Owned(found) => Cow::Owned(self.topology.with_jobs(vec![found])),
            Cow::Borrowed(_) => Cow::Borrowed(&self.topology),
        };
        if let Err(mut violations) = inart_planner_aggregation::check(&topology, &job.plan) {
            if numbers == Numbers::Taken {
                violations.retain(|violation| !matches!(violation, Violation::WrongNumber { .. }));
            }
            if !violations.is_empty() {
                return Err(InstallError::Check { job: job.plan.job.clone(), violations });
            }
        }
        let requirements = requirements::of_plan(&self.ports, &roles, &job.plan);
        let requirements = requirements
            .and_then(|found| pipes::check(&self.ports, &roles, &found).map(|()| found))
            .map_err(|source| InstallError::plan(&job.plan.job, source))?;
        Ok(Wanted {
            job: job.job,
            name: job.plan.job.clone(),
            requirements,
            window: job.window_chunks,
            new_epoch: job.new_epoch,
            known: self.known(job, record),
        })
    }

    fn known(&self, job: &JobPlan, record: Option<&JobRecord>) -> Known {
        let live = record.and_then(|record| record.live());
        let change = record.and_then(|record| record.change);
        let mut stale = record.map(|record| record.stale.clone()).unwrap_or_default();
        // What a change has begun to write before its controller ended is used by no host.
        stale.extend(change.filter(|change| change.open().is_none()).map(|change| change.other));
        Known {
            live: live.map(|live| live.epoch),
            same_plan: live.is_some_and(|live| *live == self.push(job, live.epoch)),
            stale,
            removed: record.and_then(|record| record.removed),
            open: record.and_then(|record| record.open()),
            undone: record.and_then(|record| record.undone),
            own_epochs_only: false,
        }
    }
}
