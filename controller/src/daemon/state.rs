//! Status of the daemon: kept by its tasks, and read by its API.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use inart_controller_api::{Ending, Instruction};
use inart_planner_aggregation::Plan;
use inart_protocol_aggregation::{Assignment, MigrationStep};
use inart_steering::{Decision, Shares};
use inart_topologies::switched::Topology;
use inart_wire::{Incarnation, JobId, PlanVersion};
use tokio::sync::{Notify, mpsc, oneshot};

use super::active_tables::ActiveTables;
use super::change_log::{ChangeLog, Command, TooMany};
use super::hosts::{JobHosts, JobInstruction};
use super::meeting::Rendezvous;
use super::reconcile::Reconciled;
use super::steered::Steered;
use crate::api::proto;
use crate::intent::Network;
use crate::peers::Peers;
use crate::records::{Claim, JobRecord, Records, RecordsError, Stage};

/// Status of one switch.
#[derive(Debug, Clone, Default)]
pub(super) struct SwitchState {
    pub address: String,
    pub connected: bool,
    pub sessions_lost: u32,
    pub pipelines_set: u32,
    pub updates_repaired: u64,
    pub reconciled: Option<Instant>,
    pub problem: String,
}

pub(super) struct Inner {
    switches: BTreeMap<String, SwitchState>,
    /// Hosts of the jobs and their instructions, once everything is installed.
    pub(super) installed: Option<Vec<JobHosts>>,
    /// Active tables of the switches.
    pub(super) active_tables: ActiveTables,
    changes: ChangeLog,
    /// Why the daemon has ended.
    ended: Option<String>,
}

impl Inner {
    pub(super) fn changes(&self) -> &ChangeLog {
        &self.changes
    }

    pub(super) fn switches(&self) -> impl Iterator<Item = (&str, &SwitchState)> {
        self.switches.iter().map(|(name, state)| (name.as_str(), state))
    }
}

/// Why a host gets no instructions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoInstructions {
    /// Plans not installed.
    NotYet,
    /// Role not granted to the host.
    NotGranted,
}

/// State that the daemon's tasks and its API share.
pub struct State {
    topology: String,
    inner: Mutex<Inner>,
    /// Records, once everything is installed. In a lock of their own, since their file may have to be
    /// waited for.
    records: Mutex<Option<Records>>,
    /// Notifies of answers of hosts.
    pub(super) answered: Notify,
    /// Observations of the network, and decisions.
    pub(super) steered: Steered,
    /// Notifies of ended changes.
    ended: Notify,
    pub(super) commands: mpsc::UnboundedSender<Command>,
    pub(super) elastic: Mutex<Rendezvous>,
    /// Notifies of events at a rendezvous: the task that checks deadlines waits for them.
    pub(super) rendezvous_changed: Notify,
    pub(crate) met: Notify,
    /// Receiver of commands, until the daemon takes it.
    ordered: Mutex<Option<mpsc::UnboundedReceiver<Command>>>,
}

impl State {
    /// Creates the state for switches (name and address) before any contact.
    pub fn new<'a>(topology: &str, switches: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let fresh = |address: &str| SwitchState {
            address: address.to_owned(),
            problem: "not reached yet".to_owned(),
            ..SwitchState::default()
        };
        let switches = switches.map(|(name, address)| (name.to_owned(), fresh(address))).collect();
        let (commands, ordered) = mpsc::unbounded_channel();
        let (active_tables, changes) = (ActiveTables::default(), ChangeLog::default());
        let inner = Inner { switches, installed: None, active_tables, changes, ended: None };
        Self {
            topology: topology.to_owned(),
            inner: Mutex::new(inner),
            records: Mutex::new(None),
            answered: Notify::new(),
            commands,
            steered: Steered::default(),
            ended: Notify::new(),
            elastic: Mutex::new(Rendezvous::new()),
            rendezvous_changed: Notify::new(),
            met: Notify::new(),
            ordered: Mutex::new(Some(ordered)),
        }
    }

    pub(super) fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the records; waits for their current user.
    pub(super) fn records(&self) -> MutexGuard<'_, Option<Records>> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the record of a job.
    pub(super) fn record(&self, job: JobId) -> Option<JobRecord> {
        self.records().as_ref()?.jobs.get(&job).cloned()
    }

    /// Returns the records of all jobs.
    pub(super) fn all_records(&self) -> BTreeMap<JobId, JobRecord> {
        self.records().as_ref().map(|records| records.jobs.clone()).unwrap_or_default()
    }

    fn change(&self, switch: &str, change: impl FnOnce(&mut SwitchState)) {
        if let Some(state) = self.inner().switches.get_mut(switch) {
            change(state);
        }
    }

    /// Notes that a switch answers; it has no session yet.
    pub(super) fn answers(&self, switch: &str) {
        self.change(switch, |state| state.problem = String::new());
    }

    /// Notes a session with a switch.
    pub(super) fn connected(&self, switch: &str) {
        self.change(switch, |state| (state.connected, state.problem) = (true, String::new()));
    }

    /// Notes the end of the session with a switch.
    pub(super) fn lost(&self, switch: &str, why: String) {
        self.change(switch, |state| {
            state.sessions_lost += u32::from(state.connected);
            (state.connected, state.problem) = (false, why);
        });
    }

    /// Notes a problem of a switch.
    pub(super) fn problem(&self, switch: &str, why: String) {
        self.change(switch, |state| state.problem = why);
    }

    /// Notes that a switch holds its tables.
    pub(super) fn reconciled(&self, switch: &str, done: Reconciled) {
        self.change(switch, |state| {
            state.pipelines_set += u32::from(done.loaded);
            state.updates_repaired += done.updates as u64;
            (state.reconciled, state.problem) = (Some(Instant::now()), String::new());
        });
    }

    /// Returns why another controller is in charge, if the records have a newer active plan than this
    /// controller.
    pub(super) fn replaced(&self) -> Option<String> {
        let known = self.records();
        let known = known.as_ref()?;
        let mut now = known.clone();
        now.refresh().ok()?;
        known.jobs.iter().find_map(|(job, record)| {
            let live = |record: &JobRecord| record.live().map(|push| push.plan_version);
            let newer =
                live(now.jobs.get(job)?).filter(|plan_version| live(record) != Some(*plan_version))?;
            Some(format!("the records have a newer active plan version {newer} of job {job}"))
        })
    }

    /// Returns the topology's name.
    pub(super) fn topology(&self) -> &str {
        &self.topology
    }

    /// Sets the tables that the switches should hold.
    pub(super) fn set_tables(&self, desired: &Network) {
        self.inner().active_tables.set_tables(desired);
    }

    /// Sets the jobs of peers whose updates the switches copy.
    pub(super) fn set_peers(&self, peers: Option<&Peers>) {
        self.inner().active_tables.set_peers(peers);
    }

    /// Notes that all plans are installed. Assignments come with their plan's rate in bit/s.
    pub(super) fn installed(&self, assignments: Vec<(Assignment, f64)>, records: Records) {
        let hosts = assignments.into_iter().map(|(assignment, rate_bps)| {
            let change = records.jobs.get(&assignment.job).and_then(|record| record.change);
            // Hosts under the other plan version reconnect; a plan version that is being closed is no
            // longer named.
            let previous_plan_version =
                change.filter(|change| matches!(change.stage, Stage::Moving | Stage::Undoing));
            let previous_plan_version = previous_plan_version.map(|change| change.other);
            JobHosts::new(JobInstruction {
                instruction: Instruction {
                    assignment,
                    previous_plan_version,
                    step: MigrationStep::Move,
                    ending: Ending::None,
                },
                rate_bps,
            })
        });
        let hosts = hosts.collect();
        *self.records() = Some(records);
        self.inner().installed = Some(hosts);
    }

    /// Notes that the daemon has ended, and why. No host gets instructions from now on.
    pub(super) fn ended(&self, why: String) {
        let mut inner = self.inner();
        inner.ended = Some(why);
        // Watching hosts watch the next controller.
        inner.installed.iter_mut().flatten().for_each(JobHosts::end);
    }

    /// Returns why hosts must retry later: plans not installed, or another controller in charge.
    pub(crate) fn waiting(&self) -> Option<String> {
        let inner = self.inner();
        if inner.ended.is_some() || inner.installed.is_some() {
            return inner.ended.clone();
        }
        let is_away = |switch: &SwitchState| !switch.connected && !switch.problem.is_empty();
        let missing = inner.switches.iter().filter(|(_, switch)| is_away(switch));
        let missing: Vec<_> = missing.map(|(name, _)| name.as_str()).collect();
        Some(match missing.is_empty() {
            true => "installing the plans".to_owned(),
            false => format!("switch {} is unreachable", missing.join(", ")),
        })
    }

    /// Returns the assignment of a job; an empty name selects the only job. Returns `None` before the plans
    /// are installed.
    ///
    /// # Errors
    /// If the controller does not run such a job.
    pub fn assignment(&self, job: &str) -> Option<Result<Assignment, String>> {
        Some(self.current(job)?.map(|current| current.instruction.assignment))
    }

    /// Returns the current instruction of a job.
    pub(super) fn current(&self, job: &str) -> Option<Result<JobInstruction, String>> {
        let inner = self.inner();
        let current: Vec<_> = inner.installed.as_ref()?.iter().map(JobHosts::current).collect();
        let name = |current: &'_ JobInstruction| current.instruction.assignment.name.clone();
        Some(match &current[..] {
            [only] if job.is_empty() => Ok(only.clone()),
            all => all.iter().find(|current| name(current) == job).cloned().ok_or_else(|| {
                let known: Vec<_> = all.iter().map(name).collect();
                match () {
                    () if inner.active_tables.copied.iter().any(|copied| copied.name == job) => format!(
                        "job {job} is a job of peers, which get no assignment; to remove the job, stop the controller and run \
                         `inart remove {job} TOPOLOGY`"
                    ),
                    () if known.is_empty() => format!("the controller runs no job \"{job}\", and no job with servers"),
                    () => format!("the controller runs no job \"{job}\"; name one of {}", known.join(", ")),
                }
            }),
        })
    }

    /// Returns the roles of a job if it does not have this one; `None` if it has, or if there is no such
    /// job.
    pub(crate) fn lacks_role(&self, job: JobId, role: &str) -> Option<String> {
        let inner = self.inner();
        let hosts = inner.installed.iter().flatten().find(|hosts| hosts.job() == job)?;
        hosts.lacks_role(role)
    }

    /// Registers a host in a role of a job; `None` before the plans are installed. Waits for the records'
    /// file.
    pub(crate) fn claim(
        &self,
        job: JobId,
        plan_version: PlanVersion,
        role: String,
        incarnation: Incarnation,
    ) -> Option<Result<Claim, RecordsError>> {
        Some(self.records().as_mut()?.claim(job, plan_version, role, incarnation))
    }

    /// Orders the migration of a running job to another plan. Returns the number of the change.
    ///
    /// If `coordinated`, and the active plan still works, workers follow their servers from chunk to chunk;
    /// else all hosts migrate at once.
    pub(super) fn begin_change(&self, plan: Plan, coordinated: bool) -> u32 {
        let number = self.inner().changes.begin(&plan.job);
        self.send_change(number, plan, coordinated)
    }

    /// Orders a migration for a client, unless too many changes are open.
    pub(crate) fn order_change(&self, plan: Plan) -> Result<u32, TooMany> {
        let number = self.inner().changes.request(&plan.job)?;
        Ok(self.send_change(number, plan, true))
    }

    fn send_change(&self, number: u32, plan: Plan, coordinated: bool) -> u32 {
        // After the end of the daemon no task carries this out, and no host gets instructions.
        let _ = self.commands.send(Command::Change { number, plan: Box::new(plan), coordinated });
        number
    }

    /// Orders the installation of a job next to the running ones. Returns the number of the change.
    pub(crate) fn order_submission(
        &self,
        topology: Topology,
        job: String,
        window_chunks: Option<u32>,
    ) -> Result<u32, TooMany> {
        let number = self.inner().changes.request(&job)?;
        let _ = self.commands.send(Command::Submit { number, topology, job, window_chunks });
        Ok(number)
    }

    /// Orders the removal of a job from the switches. Returns the number of the change; `None` before the
    /// plans are installed.
    pub(crate) fn order_deletion(
        &self,
        job: &str,
        force: bool,
    ) -> Option<Result<Result<u32, TooMany>, String>> {
        let current = match self.current(job)? {
            Ok(current) => current.instruction.assignment,
            Err(why) => return Some(Err(why)),
        };
        let number = self.inner().changes.request(&current.name);
        if let Ok(number) = number {
            let _ = self.commands.send(Command::Delete { number, job: current.job, force });
        }
        Some(Ok(number))
    }

    /// Returns the commands to the daemon, to the first caller only.
    pub(super) fn ordered(&self) -> Option<mpsc::UnboundedReceiver<Command>> {
        self.ordered.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Wakes the tasks that wait for the end of a change.
    pub(super) fn change_has_ended(&self) {
        self.ended.notify_waiters();
    }

    /// Waits until a change has ended. Returns its result.
    pub(super) async fn change_ended(&self, number: u32) -> proto::ChangeStatus {
        loop {
            let ended = self.ended.notified();
            tokio::pin!(ended);
            ended.as_mut().enable();
            if let Some(change) = self.changes(|log| log.ended(number)) {
                return change;
            }
            ended.await;
        }
    }

    /// Requests a decision; `None` without replanning.
    pub(crate) fn ask_for_decision(
        &self,
        shares: Shares,
    ) -> Option<oneshot::Receiver<Result<Decision, String>>> {
        self.steered.request(shares)
    }

    /// Returns the decisions, oldest first.
    pub(crate) fn decisions(&self) -> Vec<Decision> {
        self.steered.seen().decisions
    }

    /// Updates the log of changes.
    pub(super) fn changes<T>(&self, change: impl FnOnce(&mut ChangeLog) -> T) -> T {
        change(&mut self.inner().changes)
    }
}
