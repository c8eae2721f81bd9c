//! Migration of jobs to the plans that were decided on.

use std::sync::Arc;
use std::time::Duration;

use inart_planner_aggregation::Plan;
use inart_steering::Outcome;
use tokio::time::{Instant, timeout_at};

use super::state::State;
use crate::api::proto::ChangeStage;

/// Least relative difference of rates over the same routes that leads to a migration.
const SAME: f64 = 0.01;
/// Longest wait for the end of an elastic job's view, since the job may be paused.
const PATIENCE: Duration = Duration::from_secs(30);

/// Time within which the hosts of a new view connect their instruction streams.
const FOLLOW_WITHIN: Duration = Duration::from_secs(3);

/// Migrates jobs from active plans to others, where these differ; with a `coordinated` cut-over if the
/// active ones still work.
pub(super) async fn move_jobs(
    state: Arc<State>,
    active: Vec<Plan>,
    plans: Vec<Plan>,
    coordinated: bool,
) -> Outcome {
    let is_same = |new: &Plan| active.iter().any(|old| old.job == new.job && are_same(old, new));
    let other: Vec<Plan> = plans.into_iter().filter(|plan| !is_same(plan)).collect();
    for plan in &other {
        let missing = state.not_acknowledged(&plan.job, FOLLOW_WITHIN).await;
        if !missing.is_empty() {
            let reason =
                format!("job {}: {} has not acknowledged its instruction", plan.job, missing.join(", "));
            return Outcome::Failed { reason };
        }
    }
    let ordered: Vec<(String, u32)> =
        other.into_iter().map(|plan| (plan.job.clone(), state.begin_change(plan, coordinated))).collect();
    let (until, mut problems) = (Instant::now() + PATIENCE, Vec::new());
    for (job, number) in ordered {
        match timeout_at(until, state.change_ended(number)).await {
            Ok(ended) if ended.stage() == ChangeStage::Done => {}
            Ok(ended) => problems.push(format!("change {number} of job {job}: {}", ended.problem)),
            Err(_) => problems.push(format!(
                "change {number} of job {job} has waited for the end of the view for more than {} s",
                PATIENCE.as_secs()
            )),
        }
    }
    match problems.is_empty() {
        true => Outcome::Done,
        false => Outcome::Failed { reason: problems.join("; ") },
    }
}

/// Returns whether hosts would behave the same under both plans.
fn are_same(old: &Plan, new: &Plan) -> bool {
    let routes = |plan: &Plan| (plan.flows.clone(), plan.trunks.clone(), plan.results.clone());
    (new.rate_bps - old.rate_bps).abs() < SAME * old.rate_bps
        && old.shards.len() == new.shards.len()
        && old.shards.iter().zip(&new.shards).all(|(old, new)| (old.share - new.share).abs() < SAME)
        && routes(old) == routes(new)
}
