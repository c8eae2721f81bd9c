//! Network of peers on the same switches: selection and checks.

use inart_targets::Session;
use inart_topologies::peers::FIRST_JOB;
use inart_wire::JobId;

use super::Controller;
use crate::assignment::JobPlan;
use crate::error::InstallError;
use crate::fabric::wanted_of;
use crate::intent::{Network, Wanted};
use crate::peers::{Peers, PeersError};

impl<D: Session> Controller<D> {
    /// Returns the active network of peers by the records.
    pub(super) fn recorded(&self) -> Result<Option<Peers>, InstallError> {
        let live = self.records.peers.live().map(|push| push.peers());
        live.transpose().map_err(InstallError::PeersRecord)
    }

    /// Returns the network of peers before its last push.
    pub(super) fn peers_before_last(&self, job: JobId) -> Result<Peers, InstallError> {
        self.records.peers_before_last(job)?.peers().map_err(InstallError::PeersRecord)
    }

    /// Returns the requirements of jobs of peers: of the given network, or else of the active one. Jobs
    /// that a rollback leaves out have no requirements.
    pub(super) fn wanted_of_peers(
        &mut self,
        struck: usize,
        jobs: &[JobPlan],
    ) -> Result<Vec<Wanted>, InstallError> {
        let recorded = self.recorded()?;
        self.fabric.set_peers(self.given.clone().or_else(|| recorded.clone()))?;
        let mut wanted = self.fabric.wanted_of_peers()?;
        self.check_programs(jobs, &wanted)?;
        let Some((given, recorded)) = self.given.as_ref().zip(recorded) else { return Ok(wanted) };
        for (number, job) in recorded.jobs() {
            let now = wanted.iter().find(|wanted| wanted.job == number);
            if struck == 0 && now.is_none_or(|now| now.name != job.name) {
                let (network, job) = (given.mesh.name().to_owned(), job.name.clone());
                let place = u32::from(number.get() - FIRST_JOB) + 1;
                return Err(PeersError::JobMissing { network, job, place }.into());
            }
            if now.is_none() {
                wanted.push(wanted_of(number, &job.name, Default::default()));
            }
        }
        Ok(wanted)
    }

    /// Refuses summed and copied jobs together where no program does both.
    fn check_programs(&self, jobs: &[JobPlan], peers: &[Wanted]) -> Result<(), InstallError> {
        let limits = self.fabric.limits;
        if limits.steer > 0 && limits.updates > 0 {
            return Ok(());
        }
        let pushed = jobs.first().map(|job| &job.plan.job);
        let recorded = || self.records.jobs.values().find_map(|record| Some(&record.live()?.plan.job));
        match (pushed.or_else(recorded), peers.first()) {
            (Some(summed), Some(copied)) => {
                let (summed, copied) = (summed.clone(), copied.name.clone());
                Err(PeersError::OneProgram { summed, copied }.into())
            }
            _ => Ok(()),
        }
    }

    /// Refuses a network of peers alone on switches that sum, since the shared entries would be replaced.
    pub(super) fn check_alone(&self, current: &Network) -> Result<(), InstallError> {
        if !self.fabric.is_of_peers_alone() {
            return Ok(());
        }
        let sums = |&(_, held): &(&String, &inart_tables::SwitchTables)| {
            !held.steer.is_empty() || !held.results.is_empty()
        };
        match current.iter().find(sums) {
            Some((switch, held)) => {
                let summed: std::collections::BTreeSet<JobId> =
                    held.steer.keys().map(|key| key.job).collect();
                Err(PeersError::OtherJobs { switch: switch.clone(), jobs: summed.len() }.into())
            }
            None => Ok(()),
        }
    }
}
