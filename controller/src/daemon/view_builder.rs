//! Formation of views of elastic jobs: plans the job for the connected hosts, installs that plan in place
//! of the previous one, and reports the view.

use std::time::{Duration, Instant};

use inart_controller_api::{Ending, Instruction};
use inart_planner_aggregation::Plan;
use inart_protocol_aggregation::MigrationStep;
use inart_wire::{Incarnation, JobId, PlanVersion};

use super::hosts::JobInstruction;
use super::plan_updater::PlanUpdater;
use crate::api::proto::ChangeStage;
use crate::membership::{Formation, MemberRole};
use crate::views::{is_for, next_view, plan_view};

/// Time limit of the planner.
const PLANNING: Duration = Duration::from_millis(500);

impl PlanUpdater {
    /// Forms a view, and reports the outcome to the rendezvous.
    pub(super) async fn form(&mut self, job: JobId, formation: Formation) {
        let began = Instant::now();
        let outcome = self.form_view(job, &formation).await;
        let (workers, servers) = (formation.workers.len(), formation.servers.len());
        let ms = began.elapsed().as_secs_f64() * 1e3;
        match &outcome {
            Ok(view) => {
                tracing::info!(job = job.get(), view = view.get(), workers, servers, ms, "view started")
            }
            Err(why) => tracing::warn!(job = job.get(), workers, servers, ms, "view not started: {why}"),
        }
        self.state.formed(job, outcome);
    }

    async fn form_view(&mut self, job: JobId, formation: &Formation) -> Result<PlanVersion, String> {
        let record = self.state.record(job).ok_or("the plans are not installed")?;
        let live = record.live().ok_or("the job has no active plan")?.clone();
        let claims = claims(formation);
        let was_paused = self.released.contains(&job);
        if record.claimed.is_empty() && is_for(&live.plan, formation) && !was_paused {
            // No host has run under the plan with which the controller started.
            self.note(move |records| records.begin_view(job, None, claims)).await?;
            return Ok(live.plan_version);
        }
        let others: Vec<_> = self.running().into_iter().filter(|(other, _)| *other != job).collect();
        let (ordered, plan) = match self.ordered(job, formation) {
            Some((number, plan)) => (Some(number), plan),
            None if was_paused => (None, self.make_room(job, &record, &live.plan, formation).await?),
            None => {
                let (topology, running) = (self.fabric.topology.clone(), live.plan.clone());
                let plans: Vec<_> = others.iter().map(|(_, push)| push.plan.clone()).collect();
                let names = formation.clone();
                let planned = move || {
                    let begun = Instant::now();
                    let time_left = || PLANNING.saturating_sub(begun.elapsed()).as_secs_f64();
                    let (plan, fair) = plan_view(&topology, &plans, &running, &names, &time_left)?;
                    Ok::<_, String>((Plan { solve_ms: begun.elapsed().as_secs_f64() * 1e3, ..plan }, fair))
                };
                let planned = tokio::task::spawn_blocking(planned).await;
                let (plan, fair) = planned.map_err(|error| error.to_string())??;
                self.slow_down(&others, &fair).await;
                (None, plan)
            }
        };
        let next =
            next_view(&self.fabric, &self.desired, &record, job, plan).map_err(|why| why.to_string())?;
        let plan_version = next.to.plan_version;
        self.note(move |records| records.begin(&[(job, plan_version)].into())).await?;
        let before = self.desired.clone();
        let written = match self.hold(next.desired).await {
            Ok(written) => written,
            Err(why) => {
                // The active plan may be that of the next view, after all.
                if let Err(more) = self.hold(before).await {
                    tracing::warn!(
                        job = job.get(),
                        "entries of plan version {plan_version} will be removed later: {more}"
                    );
                }
                return Err(why);
            }
        };
        self.released.remove(&job);
        let push = next.to.clone();
        self.note(move |records| records.begin_view(job, Some(push), claims)).await?;
        tracing::info!(
            job = job.get(),
            written,
            "tables of plan version {plan_version} in place of those of {}",
            live.plan_version
        );
        let instruction = Instruction {
            assignment: next.assignment,
            previous_plan_version: None,
            step: MigrationStep::Move,
            ending: Ending::None,
        };
        self.state.begin_view(JobInstruction { instruction, rate_bps: next.to.plan.rate_bps });
        if let Some(number) = ordered {
            self.state.changes(|log| {
                log.leads(number, live.plan_version, plan_version);
                log.updates(number, written, 0);
                log.end(number, ChangeStage::Done, String::new());
            });
            self.state.change_has_ended();
        }
        Ok(plan_version)
    }

    /// Returns the plan that was ordered for the next view with the change's number, if the plan is for
    /// these hosts.
    fn ordered(&mut self, job: JobId, formation: &Formation) -> Option<(u32, Plan)> {
        let (number, plan) = self.next.remove(&job)?;
        if is_for(&plan, formation) {
            return Some((number, plan));
        }
        let problem = "the job's hosts have changed: plan the job for the current hosts".to_owned();
        self.state.changes(|log| log.end(number, ChangeStage::Refused, problem));
        self.state.change_has_ended();
        None
    }
}

/// Returns the roles of a formation's hosts.
fn claims(formation: &Formation) -> Vec<(String, Incarnation)> {
    let workers = formation.workers.iter().enumerate().map(|(rank, host)| (MemberRole::Worker(rank), host.1));
    let servers =
        formation.servers.iter().enumerate().map(|(shard, host)| (MemberRole::Server(shard), host.1));
    workers.chain(servers).map(|(place, incarnation)| (place.to_string(), incarnation)).collect()
}
