//! What the daemon tells of itself, kept by its tasks and read by its API.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use inart_core::Assignment;
use inart_wire::{Epoch, Incarnation, JobId};

use super::reconcile::Reconciled;
use crate::api::proto;
use crate::records::{Claim, Records, RecordsError};

/// How one switch is.
#[derive(Debug, Clone, Default)]
struct SwitchState {
    address: String,
    connected: bool,
    sessions_lost: u32,
    pipelines_set: u32,
    updates_repaired: u64,
    reconciled: Option<Instant>,
    problem: String,
}

struct Inner {
    switches: BTreeMap<String, SwitchState>,
    /// What the hosts are told and the plan's rate, once everything is installed.
    installed: Option<Vec<(Assignment, f64)>>,
    /// Why the daemon is not in charge any more.
    ended: Option<String>,
}

/// Shared between the daemon's tasks and its API.
pub struct State {
    topology: String,
    inner: Mutex<Inner>,
    /// Once everything is installed. Apart, since the file that they are in may have to be waited for.
    records: Mutex<Option<Records>>,
}

impl State {
    /// Nothing is known of these switches (name and address) yet.
    pub fn new<'a>(topology: &str, switches: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let fresh = |address: &str| SwitchState {
            address: address.to_owned(),
            problem: "not reached yet".to_owned(),
            ..SwitchState::default()
        };
        let switches = switches.map(|(name, address)| (name.to_owned(), fresh(address))).collect();
        Self {
            topology: topology.to_owned(),
            inner: Mutex::new(Inner { switches, installed: None, ended: None }),
            records: Mutex::new(None),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn records(&self) -> MutexGuard<'_, Option<Records>> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, switch: &str, change: impl FnOnce(&mut SwitchState)) {
        if let Some(state) = self.inner().switches.get_mut(switch) {
            change(state);
        }
    }

    /// There is a session with the switch.
    pub(super) fn connected(&self, switch: &str) {
        self.change(switch, |state| (state.connected, state.problem) = (true, String::new()));
    }

    /// The session with the switch is over.
    pub(super) fn lost(&self, switch: &str, why: String) {
        self.change(switch, |state| {
            state.sessions_lost += u32::from(state.connected);
            (state.connected, state.problem) = (false, why);
        });
    }

    /// The switch is not in order.
    pub(super) fn problem(&self, switch: &str, why: String) {
        self.change(switch, |state| state.problem = why);
    }

    /// The switch holds what it should.
    pub(super) fn reconciled(&self, switch: &str, done: Reconciled) {
        self.change(switch, |state| {
            state.pipelines_set += u32::from(done.loaded);
            state.updates_repaired += done.updates as u64;
            (state.reconciled, state.problem) = (Some(Instant::now()), String::new());
        });
    }

    /// All plans are installed. The assignments come with their plan's rate in bit/s.
    pub(super) fn installed(&self, assignments: Vec<(Assignment, f64)>, records: Records) {
        *self.records() = Some(records);
        self.inner().installed = Some(assignments);
    }

    /// The daemon has ended, and says why: nobody is told anything from now on.
    pub(super) fn ended(&self, why: String) {
        self.inner().ended = Some(why);
    }

    /// Why hosts have to ask again later: the plans are not installed, or another controller is in charge.
    pub(crate) fn waiting(&self) -> Option<String> {
        let inner = self.inner();
        if inner.ended.is_some() || inner.installed.is_some() {
            return inner.ended.clone();
        }
        let missing = inner.switches.iter().filter(|(_, switch)| !switch.connected);
        let missing: Vec<_> = missing.map(|(name, _)| name.as_str()).collect();
        Some(match missing.is_empty() {
            true => "it is at it".to_owned(),
            false => format!("switch {} is out of reach", missing.join(", ")),
        })
    }

    /// What the hosts of a job are told, by its name; without one, of the only job. `None` before it is
    /// installed.
    pub(crate) fn assignment(&self, job: &str) -> Option<Result<Assignment, String>> {
        let inner = self.inner();
        let assignments = inner.installed.as_ref()?;
        let named = |(assignment, _): &&(Assignment, f64)| assignment.name == job;
        Some(match &assignments[..] {
            [(only, _)] if job.is_empty() => Ok(only.clone()),
            all => all.iter().find(named).map(|(found, _)| found.clone()).ok_or_else(|| {
                let known: Vec<_> = all.iter().map(|(assignment, _)| assignment.name.as_str()).collect();
                format!("the controller runs no job \"{job}\"; name one of {}", known.join(", "))
            }),
        })
    }

    /// Notes that a host runs in a role of a job; `None` before the plans are installed. Waits for the
    /// records' file.
    pub(crate) fn claim(
        &self,
        job: JobId,
        epoch: Epoch,
        role: String,
        life: Incarnation,
    ) -> Option<Result<Claim, RecordsError>> {
        Some(self.records().as_mut()?.claim(job, epoch, role, life))
    }

    /// For the API.
    pub(crate) fn status(&self) -> proto::Status {
        let inner = self.inner();
        let jobs = inner.installed.iter().flatten();
        proto::Status {
            topology: self.topology.clone(),
            installed: inner.installed.is_some(),
            jobs: jobs
                .map(|(assignment, rate_bps)| proto::JobStatus {
                    name: assignment.name.clone(),
                    job: assignment.job.get().into(),
                    epoch: assignment.epoch.get().into(),
                    rate_bps: *rate_bps,
                })
                .collect(),
            switches: inner
                .switches
                .iter()
                .map(|(name, state)| proto::SwitchStatus {
                    name: name.clone(),
                    address: state.address.clone(),
                    connected: state.connected,
                    sessions_lost: state.sessions_lost,
                    pipelines_set: state.pipelines_set,
                    updates_repaired: state.updates_repaired,
                    reconciled_ms_ago: state.reconciled.map(|at| at.elapsed().as_millis() as u64),
                    problem: state.problem.clone(),
                })
                .collect(),
        }
    }
}
