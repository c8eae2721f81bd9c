//! What the daemon tells of itself, kept by its tasks and read by its API.

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

use super::change_log::{ChangeLog, Command, TooMany};
use super::hosts::{JobHosts, Told};
use super::in_force::InForce;
use super::meeting::Rendezvous;
use super::reconcile::Reconciled;
use super::steered::Steered;
use crate::api::proto;
use crate::intent::Network;
use crate::peers::Peers;
use crate::records::{Claim, JobRecord, Records, RecordsError, Stage};

/// How one switch is.
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
    /// The jobs' hosts and what they are told, once everything is installed.
    pub(super) installed: Option<Vec<JobHosts>>,
    /// The tables that the switches are to hold.
    pub(super) in_force: InForce,
    changes: ChangeLog,
    /// Why the daemon is not in charge any more.
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

/// Why a host has nobody to follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NotFollowed {
    /// The plans are not installed.
    NotYet,
    /// It was not granted that role of that job.
    NotGranted,
}

/// Shared between the daemon's tasks and its API.
pub struct State {
    topology: String,
    inner: Mutex<Inner>,
    /// Once everything is installed. Apart, since the file that they are in may have to be waited for.
    records: Mutex<Option<Records>>,
    /// A host has answered.
    pub(super) heard: Notify,
    /// What is seen of the network, and decided.
    pub(super) steered: Steered,
    /// A change has ended.
    ended: Notify,
    pub(super) commands: mpsc::UnboundedSender<Command>,
    pub(super) elastic: Mutex<Rendezvous>,
    /// Something has happened at a rendezvous: for who watches the time, and for hosts that wait.
    pub(super) poked: Notify,
    pub(crate) met: Notify,
    /// The other end, until the daemon takes it.
    ordered: Mutex<Option<mpsc::UnboundedReceiver<Command>>>,
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
        let (commands, ordered) = mpsc::unbounded_channel();
        let (in_force, changes) = (InForce::default(), ChangeLog::default());
        let inner = Inner { switches, installed: None, in_force, changes, ended: None };
        Self {
            topology: topology.to_owned(),
            inner: Mutex::new(inner),
            records: Mutex::new(None),
            heard: Notify::new(),
            commands,
            steered: Steered::default(),
            ended: Notify::new(),
            elastic: Mutex::new(Rendezvous::new()),
            poked: Notify::new(),
            met: Notify::new(),
            ordered: Mutex::new(Some(ordered)),
        }
    }

    pub(super) fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The records; waits for who changes them.
    pub(super) fn records(&self) -> MutexGuard<'_, Option<Records>> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of a job.
    pub(super) fn record(&self, job: JobId) -> Option<JobRecord> {
        self.records().as_ref()?.jobs.get(&job).cloned()
    }

    /// What is known of all jobs.
    pub(super) fn all_records(&self) -> BTreeMap<JobId, JobRecord> {
        self.records().as_ref().map(|records| records.jobs.clone()).unwrap_or_default()
    }

    fn change(&self, switch: &str, change: impl FnOnce(&mut SwitchState)) {
        if let Some(state) = self.inner().switches.get_mut(switch) {
            change(state);
        }
    }

    /// The switch answers; there is no session with it yet.
    pub(super) fn answers(&self, switch: &str) {
        self.change(switch, |state| state.problem = String::new());
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

    /// Why another controller is in charge, if by the records one has put plans in force since this one did.
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

    /// The switches are to hold these tables from now on.
    pub(super) fn holds(&self, desired: &Network) {
        self.inner().in_force.holds(desired);
    }

    /// The switches copy updates of these peers' jobs.
    pub(super) fn copies(&self, peers: Option<&Peers>) {
        self.inner().in_force.copies(peers);
    }

    /// All plans are installed. The assignments come with their plan's rate in bit/s.
    pub(super) fn installed(&self, assignments: Vec<(Assignment, f64)>, records: Records) {
        let hosts = assignments.into_iter().map(|(assignment, rate_bps)| {
            let change = records.jobs.get(&assignment.job).and_then(|record| record.change);
            // Hosts that are in it come back; one that is being closed is no longer spoken of.
            let previous_plan_version =
                change.filter(|change| matches!(change.stage, Stage::Moving | Stage::Undoing));
            let previous_plan_version = previous_plan_version.map(|change| change.other);
            JobHosts::new(Told {
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

    /// The daemon has ended, and says why: nobody is told anything from now on.
    pub(super) fn ended(&self, why: String) {
        let mut inner = self.inner();
        inner.ended = Some(why);
        // Who follows, follows the next controller.
        inner.installed.iter_mut().flatten().for_each(JobHosts::end);
    }

    /// Why hosts have to ask again later: the plans are not installed, or another controller is in charge.
    pub(crate) fn waiting(&self) -> Option<String> {
        let inner = self.inner();
        if inner.ended.is_some() || inner.installed.is_some() {
            return inner.ended.clone();
        }
        let is_away = |switch: &SwitchState| !switch.connected && !switch.problem.is_empty();
        let missing = inner.switches.iter().filter(|(_, switch)| is_away(switch));
        let missing: Vec<_> = missing.map(|(name, _)| name.as_str()).collect();
        Some(match missing.is_empty() {
            true => "it is at it".to_owned(),
            false => format!("switch {} is out of reach", missing.join(", ")),
        })
    }

    /// What the hosts of a job are told, by its name; without one, of the only job. `None` before it is
    /// installed.
    ///
    /// # Errors
    /// In words, a job that the controller does not run.
    pub fn assignment(&self, job: &str) -> Option<Result<Assignment, String>> {
        Some(self.told(job)?.map(|told| told.instruction.assignment))
    }

    /// The same with all that they are told.
    pub(super) fn told(&self, job: &str) -> Option<Result<Told, String>> {
        let inner = self.inner();
        let told: Vec<_> = inner.installed.as_ref()?.iter().map(JobHosts::told).collect();
        let name = |told: &'_ Told| told.instruction.assignment.name.clone();
        Some(match &told[..] {
            [only] if job.is_empty() => Ok(only.clone()),
            all => all.iter().find(|told| name(told) == job).cloned().ok_or_else(|| {
                let known: Vec<_> = all.iter().map(name).collect();
                match () {
                    () if inner.in_force.copied.iter().any(|copied| copied.name == job) => format!(
                        "job {job} is a job of peers, which get no assignment; to remove the job, stop the controller and run \
                         `inart remove {job} TOPOLOGY`"
                    ),
                    () if known.is_empty() => format!("the controller runs no job \"{job}\", and no job with servers"),
                    () => format!("the controller runs no job \"{job}\"; name one of {}", known.join(", ")),
                }
            }),
        })
    }

    /// The roles that a job has, if it has not this one; `None` if it has, or there is no such job.
    pub(crate) fn lacks_role(&self, job: JobId, role: &str) -> Option<String> {
        let inner = self.inner();
        let hosts = inner.installed.iter().flatten().find(|hosts| hosts.job() == job)?;
        hosts.lacks_role(role)
    }

    /// Notes that a host runs in a role of a job; `None` before the plans are installed. Waits for the
    /// records' file.
    pub(crate) fn claim(
        &self,
        job: JobId,
        plan_version: PlanVersion,
        role: String,
        incarnation: Incarnation,
    ) -> Option<Result<Claim, RecordsError>> {
        Some(self.records().as_mut()?.claim(job, plan_version, role, incarnation))
    }

    /// Asks the daemon to move a job that runs to another plan; the number of that change.
    ///
    /// Its workers follow their servers from chunk to chunk if the plan in force still works, and
    /// `coordinated` says so; else all move when they are told.
    pub(super) fn begin_change(&self, plan: Plan, coordinated: bool) -> u32 {
        let number = self.inner().changes.begin(&plan.job);
        self.send_change(number, plan, coordinated)
    }

    /// Does so because a client asks, if not too many such changes are open.
    pub(crate) fn order_change(&self, plan: Plan) -> Result<u32, TooMany> {
        let number = self.inner().changes.ask(&plan.job)?;
        Ok(self.send_change(number, plan, true))
    }

    fn send_change(&self, number: u32, plan: Plan, coordinated: bool) -> u32 {
        // Nobody carries it out once the daemon has ended, and nobody is told anything then.
        let _ = self.commands.send(Command::Change { number, plan: Box::new(plan), coordinated });
        number
    }

    /// Asks the daemon to install a job beside those that run; the number by which the log has it.
    pub(crate) fn order_submission(
        &self,
        topology: Topology,
        job: String,
        window_chunks: Option<u32>,
    ) -> Result<u32, TooMany> {
        let number = self.inner().changes.ask(&job)?;
        let _ = self.commands.send(Command::Submit { number, topology, job, window_chunks });
        Ok(number)
    }

    /// Asks the daemon to take a job off the switches; the number by which the log has it. `None` before the
    /// plans are installed.
    pub(crate) fn order_deletion(
        &self,
        job: &str,
        force: bool,
    ) -> Option<Result<Result<u32, TooMany>, String>> {
        let told = match self.told(job)? {
            Ok(told) => told.instruction.assignment,
            Err(why) => return Some(Err(why)),
        };
        let number = self.inner().changes.ask(&told.name);
        if let Ok(number) = number {
            let _ = self.commands.send(Command::Delete { number, job: told.job, force });
        }
        Some(Ok(number))
    }

    /// What the daemon is asked to do; the first caller has it all.
    pub(super) fn ordered(&self) -> Option<mpsc::UnboundedReceiver<Command>> {
        self.ordered.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// A change has ended: who waits for that looks again.
    pub(super) fn change_has_ended(&self) {
        self.ended.notify_waiters();
    }

    /// Waits until a change has ended, and says how.
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

    /// Asks for a decision; `None` if nobody watches.
    pub(crate) fn ask_for_decision(
        &self,
        shares: Shares,
    ) -> Option<oneshot::Receiver<Result<Decision, String>>> {
        self.steered.ask(shares)
    }

    /// What was decided, oldest first.
    pub(crate) fn decisions(&self) -> Vec<Decision> {
        self.steered.seen().decisions
    }

    /// Changes what is known of changes.
    pub(super) fn changes<T>(&self, change: impl FnOnce(&mut ChangeLog) -> T) -> T {
        change(&mut self.inner().changes)
    }
}
