//! Network that plans are installed on: the requirements of a plan follow from the network and the records.

use std::borrow::Cow;
use std::collections::BTreeMap;

use inart_planner_aggregation::{Plan, Violation};
use inart_protocol_aggregation::Assignment;
use inart_tables::Limits;
use inart_topologies::peers::PeerJob;
use inart_topologies::switched::{Job, Topology};
use inart_wire::{JobId, PlanVersion, ValuesPerFrame};

use crate::assignment::{self, JobPlan};
use crate::error::InstallError;
use crate::intent::{Known, Wanted};
use crate::members::members;
use crate::peers::{Peers, PeersError, alone, join, plan_version};
use crate::ports::PortMap;
use crate::records::{JobRecord, Push};
use crate::requirements::{self, Requirements, Roles};
use crate::{multicast, pipes};

/// Network: topology, port numbers, addresses, and limits of the switches' program.
#[derive(Clone)]
pub struct Fabric {
    pub(crate) topology: Topology,
    pub(crate) ports: PortMap,
    pub(crate) values: ValuesPerFrame,
    pub(crate) limits: Limits,
    /// Network of peers on the same switches, if any.
    pub(crate) peers: Option<Peers>,
}

/// Check of a plan's rates and loads against the topology.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// Check of all numbers: the plan was made for this topology.
    Checked,
    /// No check: the plan was made for other capacities or background traffic.
    Unchecked,
}

/// Returns a job of peers with its requirements; a job that is removed has none.
pub(crate) fn wanted_of(job: JobId, name: &str, requirements: BTreeMap<String, Requirements>) -> Wanted {
    let known = Known { only: Some(plan_version()), ..Known::default() };
    Wanted { job, name: name.to_owned(), requirements, window: 1, new_plan_version: false, known }
}

impl Fabric {
    /// Creates the network of a topology; `values` and `limits` are those of the program of its switches.
    ///
    /// # Errors
    /// A topology that is too large to number.
    pub fn new(topology: Topology, values: ValuesPerFrame, limits: Limits) -> Result<Self, InstallError> {
        let ports = PortMap::new(&topology)?;
        ports.check_ports(limits.ports)?;
        Ok(Self { topology, ports, values, limits, peers: None })
    }

    /// Sets the network of peers on the same switches, or keeps the previous one on errors.
    ///
    /// # Errors
    /// A network of peers that is not part of the topology.
    pub(crate) fn set_peers(&mut self, peers: Option<Peers>) -> Result<(), InstallError> {
        let mut ports = PortMap::new(&self.topology)?;
        if let Some(peers) = &peers {
            peers.check()?;
            match self.is_of_peers_alone() {
                true => ports = alone(&ports, &peers.mesh)?,
                false => join(&mut ports, &self.topology, &peers.mesh)?,
            }
            ports.check_ports(self.limits.ports)?;
        }
        (self.ports, self.peers) = (ports, peers);
        Ok(())
    }

    /// Returns whether the network is of peers only: no job of the topology has servers.
    pub(crate) fn is_of_peers_alone(&self) -> bool {
        self.topology.jobs().is_empty()
    }

    /// Returns the document of the network: the peers' document if all jobs are of peers.
    pub(crate) fn document(&self) -> String {
        match &self.peers {
            Some(peers) if self.is_of_peers_alone() => peers.mesh.to_yaml(),
            _ => self.topology.to_yaml(),
        }
    }

    /// Returns the requirements of the jobs of peers.
    ///
    /// # Errors
    /// Updates that cannot be copied.
    pub(crate) fn wanted_of_peers(&self) -> Result<Vec<Wanted>, InstallError> {
        let of = |(job, of_peers): (JobId, &PeerJob), peers: &Peers| {
            let requirements = multicast::requirements(&self.ports, &of_peers.name, &peers.names(of_peers));
            let requirements = requirements.map_err(PeersError::from)?;
            Ok(wanted_of(job, &of_peers.name, requirements))
        };
        self.peers.iter().flat_map(|peers| peers.jobs().map(move |job| of(job, peers))).collect()
    }

    /// Returns the job of a plan; of an elastic job, the hosts that the plan is for.
    fn job_of(&self, plan: &Plan) -> Result<Cow<'_, Job>, InstallError> {
        let found = self.topology.job_named(&plan.job).ok_or_else(|| InstallError::NoJob {
            job: plan.job.clone(),
            topology: self.topology.name().to_owned(),
        })?;
        Ok(members(&self.topology, found, plan))
    }

    /// Returns ranks and shards of a plan.
    pub(crate) fn roles<'a>(&'a self, job: &'a JobPlan) -> Result<Roles<'a>, InstallError> {
        let plan = &job.plan;
        let found = self.job_of(plan)?;
        let workers = found.workers.iter().map(|worker| self.topology.node(*worker).name.as_str());
        Roles::new(workers.collect::<Vec<_>>(), plan).map_err(|source| InstallError::plan(&plan.job, source))
    }

    /// Returns the assignment of a job, with a plan version to be chosen later.
    pub(crate) fn assignment(&self, job: &JobPlan) -> Result<Assignment, InstallError> {
        let assignment = assignment::of_job(&self.ports, &self.roles(job)?, job, self.values);
        assignment.map_err(|source| InstallError::plan(&job.plan.job, source))
    }

    /// Returns the record of a push.
    pub(crate) fn push(&self, job: &JobPlan, plan_version: PlanVersion) -> Push {
        Push {
            plan_version,
            plan: job.plan.clone(),
            topology: self.topology.to_yaml(),
            values: self.values,
            window_chunks: job.window_chunks,
            rate_scale: job.rate_scale,
        }
    }

    /// Returns the requirements of a plan, if it holds on this network, with the job's record.
    pub(crate) fn wanted(
        &self,
        job: &JobPlan,
        record: Option<&JobRecord>,
        numbers: Numbers,
    ) -> Result<Wanted, InstallError> {
        let roles = self.roles(job)?;
        let topology = match self.job_of(&job.plan)? {
            // The plan is for the connected hosts only.
            Cow::Owned(found) => Cow::Owned(self.topology.with_jobs(vec![found])),
            Cow::Borrowed(_) => Cow::Borrowed(&self.topology),
        };
        if let Err(mut violations) = inart_planner_aggregation::check(&topology, &job.plan) {
            if numbers == Numbers::Unchecked {
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
            new_plan_version: job.new_plan_version,
            known: self.known(job, record),
        })
    }

    fn known(&self, job: &JobPlan, record: Option<&JobRecord>) -> Known {
        let live = record.and_then(|record| record.live());
        let change = record.and_then(|record| record.change);
        let mut stale = record.map(|record| record.stale.clone()).unwrap_or_default();
        // No host uses what a change began to write before its controller ended.
        stale.extend(change.filter(|change| change.open().is_none()).map(|change| change.other));
        Known {
            live: live.map(|live| live.plan_version),
            same_plan: live.is_some_and(|live| *live == self.push(job, live.plan_version)),
            stale,
            removed: record.and_then(|record| record.removed),
            open: record.and_then(|record| record.open()),
            undone: record.and_then(|record| record.undone),
            only: None,
            own_plan_versions_only: false,
        }
    }
}
