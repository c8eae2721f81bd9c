//! Migration of running jobs to other plans: first the new tables next to the old ones, then the hosts,
//! then the removal of the old tables. Whatever fails, the job continues under one of the two plans.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use inart_controller_api::{Ending, Instruction};
use inart_planner_aggregation::Plan;
use inart_protocol_aggregation::MigrationStep;
use inart_wire::{JobId, PlanVersion};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout};

use super::change_log::Command;
use super::hosts::JobInstruction;
use super::instructions::CutOver;
use super::reconciler::Order;
use super::state::State;
use crate::api::proto::ChangeStage;
use crate::fabric::Fabric;
use crate::intent::Network;
use crate::live::{LiveChange, LiveChangeError, live_change, without};
use crate::membership::Timing;
use crate::records::{Records, RecordsError, Stage};
use crate::views::next_view;

/// Interval of checks whether a silent switch is disconnected.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Result of a change that does not end with the new plan.
pub(super) enum End {
    /// Refusal: nothing was changed.
    Refused(String),
    /// Undone change.
    Undone(String),
    /// Deferral until the view of the elastic job has ended.
    Later,
}

/// Task that carries out one change after the other.
pub(super) struct PlanUpdater {
    pub fabric: Fabric,
    /// Tables that the switches should hold.
    pub desired: Network,
    /// Order queue of each switch's reconciler.
    pub switches: BTreeMap<String, mpsc::UnboundedSender<Order>>,
    pub state: Arc<State>,
    /// Time limit of all switches for new tables, and of all hosts for a migration.
    pub limit: Duration,
    /// Timing of the rendezvous of elastic jobs.
    pub timing: Timing,
    /// Change and plan of the next view, by elastic job.
    pub next: BTreeMap<JobId, (u32, Plan)>,
    /// Paused jobs: the switches hold nothing of them.
    pub released: BTreeSet<JobId>,
}

impl PlanUpdater {
    /// Ends changes that an earlier controller left unfinished, then carries out commands forever.
    pub async fn run(mut self) -> Infallible {
        self.settle().await;
        if let Some(mut commands) = self.state.ordered() {
            while let Some(command) = commands.recv().await {
                match command {
                    Command::Change { number, plan, coordinated } => {
                        self.carry_out(number, *plan, coordinated).await
                    }
                    Command::Submit { number, topology, job, window_chunks } => {
                        self.submit(number, topology, job, window_chunks).await;
                    }
                    Command::Delete { number, job, force } => self.delete(number, job, force).await,
                    Command::Release { job } => self.release(job).await,
                    Command::Form { job, formation } => self.form(job, formation).await,
                }
            }
        }
        std::future::pending().await
    }

    /// Carries out a change, and logs the outcome. The cut-over is `coordinated` where the active plan
    /// still works.
    pub(super) async fn carry_out(&mut self, number: u32, plan: Plan, coordinated: bool) {
        let job = plan.job.clone();
        let (stage, problem) = match self.change(number, plan, coordinated).await {
            Ok(()) => (ChangeStage::Done, String::new()),
            Err(End::Refused(why)) => (ChangeStage::Refused, why),
            Err(End::Undone(why)) => (ChangeStage::Undone, why),
            Err(End::Later) => return,
        };
        let ended = self.state.changes(|log| log.end(number, stage, problem.clone()));
        self.state.change_has_ended();
        let (from, to, ms) = (ended.from, ended.to, ended.total_us as f64 / 1e3);
        match stage {
            ChangeStage::Done => tracing::info!(
                job,
                number,
                from,
                to,
                hosts = ended.hosts,
                coordinated = ended.coordinated,
                written = ended.updates_written,
                removed = ended.updates_removed,
                installed_ms = ended.installed_us as f64 / 1e3,
                moved_ms = ended.migrated_us as f64 / 1e3,
                ms,
                "change done: the new plan is active"
            ),
            ChangeStage::Undone => tracing::warn!(
                job,
                number,
                from,
                to,
                ms,
                "change undone, the previous plan is active: {problem}"
            ),
            _ => tracing::warn!(job, number, ms, "change refused: {problem}"),
        }
    }

    /// Migrates a job from the active plan to another.
    async fn change(&mut self, number: u32, plan: Plan, coordinated: bool) -> Result<(), End> {
        let name = plan.job.clone();
        let before = self.current(&name).map_err(End::Refused)?;
        // Only hosts that watch instructions can migrate.
        self.all_acknowledged(number, before.instruction.assignment.job).await.map_err(|why| {
            End::Refused(format!(
                "{why}; hosts that are not running, or that use an assignment file, do not watch the controller: apply the plan \
                 after the job has ended"
            ))
        })?;
        let change = match self.plan(&before, plan.clone()) {
            Err(LiveChangeError::Differs { .. })
                if self.state.is_elastic(before.instruction.assignment.job) =>
            {
                return Err(self.end_view_for(number, before.instruction.assignment.job, plan));
            }
            planned => planned.map_err(|error| End::Refused(error.to_string()))?,
        };
        let (job, from, to) = (change.job, change.from, change.to.plan_version);
        self.state.changes(|log| log.leads(number, from, to));
        self.write(number, &change).await?;
        let moved = match self.move_hosts(number, &change, coordinated).await {
            Ok(moved) => moved,
            Err(why) => {
                tracing::warn!(job = name, number, "the change is undone: {why}");
                self.undo(number, before, to).await;
                return Err(End::Undone(why));
            }
        };
        tracing::info!(job = name, number, hosts = moved, "all hosts have migrated to plan version {to}");
        // The new plan is active, even if closing the previous plan version fails.
        self.state.changes(|log| log.stage(number, ChangeStage::Closing));
        self.instruct(&change, None, MigrationStep::Move);
        if let Err(why) = self.all_acknowledged(number, job).await {
            tracing::warn!(job = name, number, "plan version {from} is not closed everywhere: {why}");
        }
        self.remove(number, job, from).await;
        Ok(())
    }

    /// Returns the current instruction of a job.
    fn current(&self, job: &str) -> Result<JobInstruction, String> {
        self.state.current(job).ok_or("the plans are not installed")?
    }

    /// Prepares a change.
    fn plan(&self, before: &JobInstruction, plan: Plan) -> Result<LiveChange, LiveChangeError> {
        let active = &before.instruction.assignment;
        let record = self.state.record(active.job).unwrap_or_default();
        live_change(&self.fabric, &self.desired, &record, active, plan)
    }

    /// Ends the view of an elastic job, whose next view gets the plan. Returns the state of the change.
    fn end_view_for(&mut self, number: u32, job: JobId, plan: Plan) -> End {
        let record = self.state.record(job).unwrap_or_default();
        if let Err(why) = next_view(&self.fabric, &self.desired, &record, job, plan.clone()) {
            return End::Refused(why.to_string());
        }
        if let Some((earlier, _)) = self.next.insert(job, (number, plan)) {
            let problem = format!("change {number} came before the view had ended");
            self.state.changes(|log| log.end(earlier, ChangeStage::Refused, problem));
            self.state.change_has_ended();
        }
        self.state.changes(|log| log.stage(number, ChangeStage::Migrating));
        tracing::info!(job = job.get(), number, "ending the view; the next one gets this plan");
        self.state.at_rendezvous(job, |membership, now| membership.end_view(now));
        End::Later
    }

    /// Writes the new tables next to the old ones; on failure the switches keep the old ones only.
    async fn write(&mut self, number: u32, change: &LiveChange) -> Result<(), End> {
        let (job, to) = (change.job, change.to.plan_version);
        let noted = self.note(move |records| records.note_change(job, Stage::Writing, to)).await;
        noted.map_err(End::Refused)?;
        self.state.changes(|log| log.stage(number, ChangeStage::Writing));
        let written = match self.hold(change.kept.clone()).await {
            Ok(_) => self.hold(change.both.clone()).await,
            Err(why) => Err(why),
        };
        let why = match written {
            Ok(written) => {
                self.state.changes(|log| log.updates(number, written, 0));
                let (job, from) = (&change.assignment.name, change.from);
                tracing::info!(
                    job,
                    number,
                    written,
                    "installed tables of plan version {to} next to those of plan version {from}, read back"
                );
                return Ok(());
            }
            Err(why) => why,
        };
        self.state.changes(|log| log.stage(number, ChangeStage::Undoing));
        let mut left = change.stale.clone();
        if let Err(more) = self.hold(change.kept.clone()).await {
            tracing::warn!(number, "entries of plan version {to} will be removed later: {more}");
            left.insert(to);
        }
        self.end(number, job, left).await;
        Err(End::Undone(why))
    }

    /// Migrates the hosts, and records it when all have migrated. Returns the number of hosts.
    async fn move_hosts(
        &mut self,
        number: u32,
        change: &LiveChange,
        coordinated: bool,
    ) -> Result<usize, String> {
        let (job, to, push) = (change.job, change.to.plan_version, change.to.clone());
        self.note(move |records| records.note_change(job, Stage::Moving, to)).await?;
        self.state.changes(|log| log.stage(number, ChangeStage::Migrating));
        let moved = match self.lead(number, change, coordinated).await? {
            Some(moved) => moved,
            None => {
                self.instruct(change, Some(change.from), MigrationStep::Move);
                self.all_acknowledged(number, job).await?
            }
        };
        self.note(move |records| records.commit_change(job, push)).await?;
        Ok(moved)
    }

    /// Lets workers follow their servers from chunk to chunk if the change is `coordinated`. Returns the
    /// number of hosts; `None` if they must migrate at once.
    async fn lead(
        &self,
        number: u32,
        change: &LiveChange,
        coordinated: bool,
    ) -> Result<Option<usize>, String> {
        if !coordinated {
            return Ok(None);
        }
        self.instruct(change, Some(change.from), MigrationStep::Prepare);
        self.all_acknowledged(number, change.job).await?;
        self.instruct(change, Some(change.from), MigrationStep::Lead);
        let watch = |progress: &_| self.state.changes(|log| log.progress(number, progress));
        match self.state.all_migrated(change.job, self.limit, watch).await? {
            CutOver::Complete(hosts) => {
                self.state.changes(|log| log.coordinated(number, true));
                Ok(Some(hosts))
            }
            CutOver::Stalled(hosts) => {
                let (job, hosts) = (&change.assignment.name, hosts.join(", "));
                tracing::warn!(job, number, "cut-over timed out, forcing migration; not migrated: {hosts}");
                Ok(None)
            }
        }
    }

    /// Sends the instruction to follow the new plan.
    fn instruct(&self, change: &LiveChange, previous_plan_version: Option<PlanVersion>, step: MigrationStep) {
        let assignment = change.assignment.clone();
        let instruction = Instruction { assignment, previous_plan_version, step, ending: Ending::None };
        self.state.instruct(JobInstruction { instruction, rate_bps: change.to.plan.rate_bps });
    }

    /// Sends the hosts back to the instruction `before`, closes the other plan version, and removes its
    /// tables. A silent host gets the instruction when it reconnects.
    async fn undo(&mut self, number: u32, before: JobInstruction, other: PlanVersion) {
        let (job, plan_version) =
            (before.instruction.assignment.job, before.instruction.assignment.plan_version);
        self.state.changes(|log| log.stage(number, ChangeStage::Undoing));
        let noted = self.note(move |records| records.note_change(job, Stage::Undoing, other)).await;
        noted.unwrap_or_else(|error| tracing::error!(number, "{error}"));
        for previous_plan_version in [Some(other), None] {
            let mut current = before.clone();
            current.instruction.previous_plan_version = previous_plan_version;
            self.state.instruct(current);
            if let Err(why) = self.all_acknowledged(number, job).await {
                tracing::warn!(number, "not all hosts have confirmed plan version {plan_version}: {why}");
            }
        }
        self.remove(number, job, other).await;
    }

    /// Removes a plan version that no host uses, and ends the job's change in the records.
    async fn remove(&mut self, number: u32, job: JobId, plan_version: PlanVersion) {
        let mut left = BTreeSet::new();
        match self.hold(without(&self.desired, job, plan_version)).await {
            Ok(removed) => {
                self.state.changes(|log| log.updates(number, 0, removed));
                tracing::info!(number, removed, "tables of plan version {plan_version} removed");
            }
            Err(why) => {
                tracing::warn!(number, "tables of plan version {plan_version} will be removed later: {why}");
                left.insert(plan_version);
            }
        }
        self.end(number, job, left).await;
    }

    /// Ends the job's change in the records.
    async fn end(&self, number: u32, job: JobId, stale: BTreeSet<PlanVersion>) {
        let noted = self.note(move |records| records.end_change(job, stale)).await;
        noted.unwrap_or_else(|error| tracing::error!(number, "{error}"));
    }

    /// Ends changes that an earlier controller left unfinished. A change is undone if not all hosts have
    /// migrated, since some host may have refused.
    async fn settle(&mut self) {
        for (job, record) in self.state.all_records() {
            let (Some(change), Some(live)) = (record.change, record.live()) else { continue };
            let name = &live.plan.job;
            let Ok(current) = self.current(name) else { continue };
            let number = self.state.changes(|log| log.begin(name));
            let has_moved = change.stage == Stage::Closing;
            let (from, to) =
                if has_moved { (change.other, live.plan_version) } else { (live.plan_version, change.other) };
            self.state.changes(|log| log.leads(number, from, to));
            tracing::warn!(job = name, number, "change from plan version {from} to {to} was interrupted");
            let (stage, problem) = if has_moved {
                self.state.changes(|log| log.stage(number, ChangeStage::Closing));
                if let Err(why) = self.all_acknowledged(number, job).await {
                    tracing::warn!(number, "plan version {from} is not closed everywhere: {why}");
                }
                self.remove(number, job, from).await;
                (ChangeStage::Done, "")
            } else {
                self.undo(number, current, to).await;
                (ChangeStage::Undone, "the controller ended before all hosts had migrated")
            };
            let ended = self.state.changes(|log| log.end(number, stage, problem.to_owned()));
            let ms = ended.total_us as f64 / 1e3;
            tracing::info!(
                job = name,
                number,
                ms,
                "interrupted change ended: plan version {} is active",
                live.plan_version
            );
        }
    }

    /// Waits until all hosts of a job have acknowledged their instruction. Returns the number of hosts.
    async fn all_acknowledged(&self, number: u32, job: JobId) -> Result<usize, String> {
        let watch = |progress: &_| self.state.changes(|log| log.progress(number, progress));
        self.state.all_acknowledged(job, self.limit, watch).await
    }

    /// Changes the records.
    pub(super) async fn note(
        &self,
        change: impl FnOnce(&mut Records) -> Result<(), RecordsError> + Send + 'static,
    ) -> Result<(), String> {
        let state = self.state.clone();
        let noted = tokio::task::spawn_blocking(move || match state.records().as_mut() {
            Some(records) => change(records).map_err(|error| error.to_string()),
            None => Err("the plans are not installed".to_owned()),
        });
        noted.await.map_err(|error| error.to_string())?
    }

    /// Sets the tables of all switches. Returns the number of table writes. Disconnected switches get their
    /// tables when they reconnect.
    pub(super) async fn hold(&mut self, tables: Network) -> Result<u64, String> {
        let changed = tables.iter().filter(|(switch, tables)| self.desired.get(*switch) != Some(tables));
        let orders = changed.map(|(switch, tables)| self.order(switch, tables.clone()));
        let answers = join_all(orders).await;
        self.desired = tables;
        self.state.set_tables(&self.desired);
        let (mut updates, mut problems) = (0, Vec::new());
        for answer in answers {
            match answer {
                Ok(written) => updates += written,
                Err(why) => problems.push(why),
            }
        }
        if problems.is_empty() { Ok(updates) } else { Err(problems.join("; ")) }
    }

    /// Sets the tables of one switch. Returns the number of table writes.
    async fn order(&self, switch: &str, desired: inart_tables::SwitchTables) -> Result<u64, String> {
        let named = |why: String| format!("switch {switch}: {why}");
        let (done, answer) = oneshot::channel();
        let lost = || named("the controller has no session with it".to_owned());
        let sender = self.switches.get(switch).ok_or_else(lost)?;
        sender.send(Order { desired, done }).map_err(|_| lost())?;
        let until = Instant::now() + self.limit;
        tokio::pin!(answer);
        loop {
            if self.state.steered.is_failed(switch) {
                tracing::warn!(switch, "switch disconnected: its tables will be written when it reconnects");
                return Ok(0);
            }
            match timeout(CHECK_INTERVAL.min(self.limit), &mut answer).await {
                Ok(Ok(Err(_))) if self.state.steered.is_failed(switch) => {}
                Ok(answer) => return Ok(answer.map_err(|_| lost())?.map_err(named)?.updates as u64),
                Err(_) if Instant::now() < until => {}
                Err(_) => return Err(named(format!("no answer within {} s", self.limit.as_secs_f64()))),
            }
        }
    }
}
