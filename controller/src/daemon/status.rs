//! Status of a daemon, as its API reports it.

use std::time::Instant;

use inart_controller_api::Instruction;

use super::active_tables::CopiedJob;
use super::hosts::{JobHosts, JobInstruction};
use super::state::{State, SwitchState};
use crate::api::proto;
use crate::kind::JobKind;
use crate::peers;

fn ms_since(at: Instant) -> u64 {
    at.elapsed().as_millis() as u64
}

impl State {
    /// Returns the status of the daemon, its switches and its jobs.
    pub fn status(&self) -> proto::Status {
        let mut rendezvous = self.all_rendezvous();
        let inner = self.inner();
        let summed = inner.installed.iter().flatten().map(|hosts: &JobHosts| {
            let JobInstruction { instruction: Instruction { assignment, .. }, rate_bps } = hosts.current();
            proto::JobStatus {
                job: assignment.job.get().into(),
                plan_version: assignment.plan_version.get().into(),
                rendezvous: rendezvous.remove(&assignment.job),
                switches: inner.active_tables.switches(assignment.job),
                kind: JobKind::Aggregation.to_string(),
                active_ms_ago: ms_since(hosts.since()),
                name: assignment.name,
                rate_bps,
                peers: 0,
            }
        });
        let copied =
            inner.active_tables.copied.iter().map(|CopiedJob { job, name, peers, since }| proto::JobStatus {
                job: job.get().into(),
                plan_version: peers::plan_version().get().into(),
                switches: inner.active_tables.switches(*job),
                kind: JobKind::Peers.to_string(),
                active_ms_ago: ms_since(*since),
                name: name.clone(),
                peers: u32::try_from(*peers).unwrap_or(u32::MAX),
                ..proto::JobStatus::default()
            });
        proto::Status {
            topology: self.topology().to_owned(),
            network: self.steered.network(),
            changes: inner.changes().status(),
            installed: inner.installed.is_some(),
            jobs: summed.chain(copied).collect(),
            switches: inner.switches().map(|(name, state)| of_switch(name, state)).collect(),
        }
    }
}

fn of_switch(name: &str, state: &SwitchState) -> proto::SwitchStatus {
    proto::SwitchStatus {
        name: name.to_owned(),
        address: state.address.clone(),
        connected: state.connected,
        sessions_lost: state.sessions_lost,
        pipelines_set: state.pipelines_set,
        updates_repaired: state.updates_repaired,
        reconciled_ms_ago: state.reconciled.map(ms_since),
        problem: state.problem.clone(),
    }
}
