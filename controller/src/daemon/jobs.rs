//! Submission and deletion of jobs while others run.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use inart_controller_api::{Ending, Instruction};
use inart_planner_aggregation::{Options, Plan, plan_joining, schemes};
use inart_protocol_aggregation::MigrationStep;
use inart_topologies::switched::{Job, Topology};
use inart_wire::{JobId, PlanVersion};

use super::hosts::JobInstruction;
use super::plan_updater::{End, PlanUpdater};
use crate::admission::admit;
use crate::api::proto::ChangeStage;
use crate::assignment::{JobPlan, job_number};
use crate::fabric::Fabric;
use crate::intent::newest;
use crate::live::without;
use crate::membership::Roster;
use crate::records::{Push, Success};
use crate::views::first_view;

/// Time limit of the planner.
const PLANNING: Duration = Duration::from_secs(2);
/// Default number of chunks in flight per worker and shard, if no job runs.
const WINDOW: u32 = 64;
/// Relative difference below which a job keeps its rate.
pub(super) const SAME: f64 = 1e-3;

impl PlanUpdater {
    /// Plans a job next to the running ones, reduces their rates as fairness requires, installs the job,
    /// and logs the outcome.
    pub(super) async fn submit(
        &mut self,
        number: u32,
        topology: Topology,
        job: String,
        window_chunks: Option<u32>,
    ) {
        let outcome = self.admit(number, topology, &job, window_chunks).await;
        self.log_outcome(number, &job, "job submitted", outcome);
    }

    async fn admit(
        &mut self,
        number: u32,
        topology: Topology,
        name: &str,
        window_chunks: Option<u32>,
    ) -> Result<(), End> {
        let refused = |why: String| End::Refused(why);
        let running = self.running();
        let there = |job: &JobId| self.state.assigned(*job).map(|assignment| assignment.name);
        let names: Vec<_> = self.state.jobs().iter().filter_map(there).collect();
        admit(&self.fabric.topology, &topology, &names, name).map_err(|error| refused(error.to_string()))?;
        let numbered = job_number(&topology, name).zip(topology.job_named(name).cloned());
        let (job, listed) = numbered.ok_or_else(|| refused(format!("job {name} has no number")))?;
        let fabric = Fabric::new(topology.clone(), self.fabric.values, self.fabric.limits);
        let mut fabric = fabric.map_err(|error| refused(error.to_string()))?;
        // A job of the network of peers may have the same name.
        fabric.set_peers(self.fabric.peers.clone()).map_err(|error| refused(error.to_string()))?;
        let plans = planned(&topology, &running, vec![listed.clone()]).await.map_err(refused)?;
        let (others, plan) = plans.split_at(running.len());
        let plan = plan.first().cloned().ok_or_else(|| refused(format!("job {name} has no plan")))?;
        // Documents of running jobs are compared by their own part only.
        let before = std::mem::replace(&mut self.fabric, fabric);
        self.slow_down(&running, others).await;
        let first = running.first().map(|(_, push)| push);
        let plan = JobPlan {
            job,
            plan,
            window_chunks: window_chunks.or(first.map(|push| push.window_chunks)).unwrap_or(WINDOW),
            rate_scale: first.map_or(1.0, |push| push.rate_scale),
            new_plan_version: true,
        };
        match self.install(number, &plan).await {
            Ok(current) => {
                self.state.steered.set_jobs(topology.jobs().to_vec());
                self.state.add_job(current.clone());
                if listed.elastic {
                    let roster = Roster::of(&topology, &listed);
                    self.state.attend(job, roster, self.timing, None, &current.instruction.assignment);
                }
                Ok(())
            }
            Err(why) => {
                self.fabric = before;
                self.change_rates(&running, &pushed(&running), |now, wanted| wanted != now).await;
                Err(why)
            }
        }
    }

    /// Installs the plan of a job without running hosts.
    async fn install(&mut self, number: u32, plan: &JobPlan) -> Result<JobInstruction, End> {
        let job = plan.job;
        let refused = |error: &dyn std::fmt::Display| End::Refused(error.to_string());
        let record = self.state.record(job).unwrap_or_default();
        let next = first_view(&self.fabric, &self.desired, &record, plan).map_err(|error| refused(&error))?;
        let (assignment, plan_version) = (next.assignment, next.to.plan_version);
        self.state.changes(|log| {
            log.leads(
                number,
                record.live().map_or(PlanVersion::from(0), |live| live.plan_version),
                plan_version,
            );
            log.stage(number, ChangeStage::Writing);
        });
        self.note(move |records| records.begin(&[(job, plan_version)].into())).await.map_err(End::Refused)?;
        let before = self.desired.clone();
        match self.hold(next.desired).await {
            Ok(written) => self.state.changes(|log| log.updates(number, written, 0)),
            Err(why) => {
                if let Err(more) = self.hold(before).await {
                    tracing::warn!(
                        number,
                        "entries of plan version {plan_version} will be removed later: {more}"
                    );
                }
                return Err(End::Undone(why));
            }
        }
        let push = next.to;
        let (document, success) = (push.topology.clone(), Success { job, push, stale: Default::default() });
        self.note(move |records| records.succeed(0, document, vec![success])).await.map_err(End::Undone)?;
        let instruction = Instruction {
            assignment,
            previous_plan_version: None,
            step: MigrationStep::Move,
            ending: Ending::None,
        };
        Ok(JobInstruction { instruction, rate_bps: plan.plan.rate_bps })
    }

    /// Removes a job from the switches, raises the rates of the others, and logs the outcome.
    pub(super) async fn delete(&mut self, number: u32, job: JobId, force: bool) {
        let name = self.state.assigned(job).map(|assignment| assignment.name).unwrap_or_default();
        let outcome = self.take_off(number, job, force).await;
        self.log_outcome(number, &name, "job deleted", outcome);
    }

    async fn take_off(&mut self, number: u32, job: JobId, force: bool) -> Result<(), End> {
        let watchers = self.state.watchers(job);
        if watchers > 0 && !force {
            return Err(End::Refused(format!(
                "{watchers} of its hosts run: stop them first, or delete it by force, which ends them with an error"
            )));
        }
        let of_job = |tables: &inart_tables::SwitchTables| tables.plan_versions(job);
        let newest = newest(self.desired.values().flat_map(of_job));
        let plan_versions: std::collections::BTreeSet<_> = self.desired.values().flat_map(of_job).collect();
        let left = plan_versions
            .into_iter()
            .fold(self.desired.clone(), |left, plan_version| without(&left, job, plan_version));
        self.state.changes(|log| log.stage(number, ChangeStage::Writing));
        // The job's hosts get no instruction from here on. A disconnected switch loses its entries when it
        // reconnects.
        self.state.disband(job);
        self.state.drop_job(job);
        self.released.remove(&job);
        if let Some((waiting, _)) = self.next.remove(&job) {
            let problem = format!("change {number} deleted the job before its run had ended");
            self.state.changes(|log| log.end(waiting, ChangeStage::Refused, problem));
            self.state.change_has_ended();
        }
        match self.hold(left).await {
            Ok(removed) => self.state.changes(|log| log.updates(number, 0, removed)),
            Err(why) => tracing::warn!(number, "remaining entries will be removed later: {why}"),
        }
        let forgotten: BTreeMap<_, _> = [(job, newest)].into();
        self.note(move |records| records.forget(&forgotten)).await.map_err(End::Undone)?;
        let running = self.running();
        match planned(&self.fabric.topology, &running, Vec::new()).await {
            Ok(plans) => self.change_rates(&running, &plans, |now, wanted| wanted > now * (1.0 + SAME)).await,
            Err(why) => tracing::warn!(number, "the other jobs keep their rates: {why}"),
        }
        Ok(())
    }

    /// Returns the jobs with hosts, with their active plans; without paused jobs.
    pub(super) fn running(&self) -> Vec<(JobId, Push)> {
        let records = self.state.all_records();
        let jobs = self.state.jobs().into_iter().filter(|job| !self.released.contains(job));
        jobs.filter_map(|job| Some((job, records.get(&job)?.live()?.clone()))).collect()
    }

    /// Migrates jobs to those of `plans` that are slower.
    pub(super) async fn slow_down(&mut self, running: &[(JobId, Push)], plans: &[Plan]) {
        self.change_rates(running, plans, |now, wanted| wanted < now * (1.0 - SAME)).await;
    }

    /// Migrates jobs to those of `plans` whose rate differs enough by `matters`. A job that cannot be
    /// migrated keeps its rate; hosts slow down when the network is congested.
    pub(super) async fn change_rates(
        &mut self,
        running: &[(JobId, Push)],
        plans: &[Plan],
        matters: impl Fn(f64, f64) -> bool,
    ) {
        for ((_, push), plan) in running.iter().zip(plans) {
            if matters(push.plan.rate_bps, plan.rate_bps) && self.would_change(push, plan) {
                let number = self.state.changes(|log| log.begin(&plan.job));
                self.carry_out(number, plan.clone(), true).await;
            }
        }
    }

    /// Returns whether a plan differs from the active one.
    fn would_change(&self, push: &Push, plan: &Plan) -> bool {
        self.running()
            .iter()
            .any(|(_, live)| live.plan.job == push.plan.job && live.plan.rate_bps != plan.rate_bps)
    }

    fn log_outcome(&self, number: u32, job: &str, done: &str, outcome: Result<(), End>) {
        let (stage, problem) = match outcome {
            Ok(()) => (ChangeStage::Done, String::new()),
            Err(End::Refused(why)) => (ChangeStage::Refused, why),
            Err(End::Undone(why)) => (ChangeStage::Undone, why),
            Err(End::Later) => return, // only changes of elastic jobs are deferred
        };
        let ended = self.state.changes(|log| log.end(number, stage, problem.clone()));
        let ms = ended.total_us as f64 / 1e3;
        match stage {
            ChangeStage::Done => tracing::info!(job, number, ms, "{done}"),
            _ => tracing::warn!(job, number, ms, "failed ({done}): {problem}"),
        }
    }
}

/// Returns the plans of installed jobs.
fn pushed(running: &[(JobId, Push)]) -> Vec<Plan> {
    running.iter().map(|(_, push)| push.plan.clone()).collect()
}

/// Plans jobs that join the running ones.
pub(super) async fn planned(
    topology: &Topology,
    running: &[(JobId, Push)],
    joining: Vec<Job>,
) -> Result<Vec<Plan>, String> {
    let (topology, running) = (topology.clone(), pushed(running));
    let plan = move || {
        let begun = Instant::now();
        let time_left = || PLANNING.saturating_sub(begun.elapsed()).as_secs_f64();
        let scheme =
            running.first().and_then(|plan| schemes::named(&plan.scheme)).unwrap_or(schemes::DEFAULT);
        let options = Options { time_left: &time_left, ..Options::new(scheme) };
        let joining: Vec<&Job> = joining.iter().collect();
        plan_joining(&topology, &running, &joining, &options).map_err(|error| error.to_string())
    };
    tokio::task::spawn_blocking(plan).await.map_err(|error| error.to_string())?
}
