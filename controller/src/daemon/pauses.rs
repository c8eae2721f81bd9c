//! Paused jobs: the switches hold nothing of them, and the other jobs get their capacity.

use inart_planner_aggregation::Plan;
use inart_wire::JobId;

use super::jobs::{SAME, planned};
use super::plan_updater::PlanUpdater;
use crate::live::without;
use crate::membership::Formation;
use crate::records::JobRecord;
use crate::views::{job_of, next_view};

impl PlanUpdater {
    /// Removes a paused job from the switches, and raises the rates of the others. A disconnected switch
    /// loses its entries when it reconnects. The records keep the plan, from which the next one is made.
    pub(super) async fn release(&mut self, job: JobId) {
        // The job may have been resumed or deleted meanwhile.
        if !self.state.is_paused(job) || !self.released.insert(job) {
            return;
        }
        let name = self.state.assigned(job).map(|assignment| assignment.name).unwrap_or_default();
        let plan_versions: Vec<_> =
            self.desired.values().flat_map(|tables| tables.plan_versions(job)).collect();
        let left = plan_versions
            .into_iter()
            .fold(self.desired.clone(), |left, plan_version| without(&left, job, plan_version));
        match self.hold(left).await {
            Ok(removed) => tracing::info!(job = name, removed, "paused: its slots are free"),
            Err(why) => {
                tracing::warn!(job = name, "paused; remaining entries will be removed later: {why}");
            }
        }
        let running = self.running();
        match planned(&self.fabric.topology, &running, Vec::new()).await {
            Ok(plans) => self.change_rates(&running, &plans, |now, wanted| wanted > now * (1.0 + SAME)).await,
            Err(why) => tracing::warn!(job = name, "the other jobs keep their rates: {why}"),
        }
    }

    /// Plans a resumed job next to the running ones, and reduces their rates as fairness requires, if there
    /// is capacity.
    pub(super) async fn make_room(
        &mut self,
        job: JobId,
        record: &JobRecord,
        before: &Plan,
        formation: &Formation,
    ) -> Result<Plan, String> {
        let running = self.running();
        let joining = job_of(&self.fabric.topology, &before.job, formation)?;
        let plans = planned(&self.fabric.topology, &running, vec![joining]).await?;
        let (others, plan) = plans.split_at(running.len());
        let plan = plan.first().cloned().ok_or_else(|| format!("job {} has no plan", before.job))?;
        next_view(&self.fabric, &self.desired, record, job, plan.clone()).map_err(|why| why.to_string())?;
        self.change_rates(&running, others, |now, wanted| wanted < now * (1.0 - SAME)).await;
        Ok(plan)
    }
}
