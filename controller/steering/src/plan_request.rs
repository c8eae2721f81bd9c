//! Requests to the planner, which the owner of the state machine carries out.

use std::time::Duration;

use inart_planner_aggregation::{
    Occupied as _, Options, Paths, Plan, PlanError, Results, Scheme, plan_again,
};
use inart_topologies::switched::Topology;

use crate::decision::{Decision, Trigger};

/// Speed-up from which a change is not coordinated: hosts migrate at once.
const TOO_SLOW_TO_LEAD: f64 = 4.0;

/// Whether the planner may change shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shares {
    /// Fixed shares: phase 2, routes and aggregation points.
    Kept,
    /// Free shares: phase 1 as well, for elastic jobs, which can change shares while they run.
    Free,
}

/// Request to plan jobs on a network, starting from the active plans.
#[derive(Debug, Clone)]
pub struct PlanRequest {
    /// Number of the request, from 1; the decision has the same number.
    pub number: u64,
    /// Time of the request.
    pub at: Duration,
    /// Trigger.
    pub trigger: Trigger,
    /// Current network: without failed parts, with background traffic.
    pub topology: Topology,
    /// Active plans.
    pub plans: Vec<Plan>,
    /// Whether the planner may change shares.
    pub shares: Shares,
    /// Whether an active plan carries nothing.
    pub is_urgent: bool,
    /// Earliest possible observation of the trigger, if known.
    pub since: Option<Duration>,
}

impl PlanRequest {
    /// Returns whether servers coordinate the migration, with workers following from chunk to chunk. That
    /// takes as long as the active routes need for a window of chunks. Where these carry nothing, or less
    /// than a quarter of the new plans, every host migrates at once.
    pub fn is_coordinated(&self, decision: &Decision) -> bool {
        !self.is_urgent && decision.gain.is_some_and(|gain| gain < TOO_SLOW_TO_LEAD)
    }

    /// Plans all jobs: one plan per job, in the order of the active plans. Kind of paths and counting of
    /// results are those of the first active plan. Plans with two aggregation levels are replaced by plans
    /// with one. Where shares are free, elastic jobs are replanned next to the others, which keep their
    /// shares. `time_left` is as in [`Options::time_left`].
    ///
    /// # Errors
    /// If a job cannot be planned.
    pub fn plan(&self, scheme: &dyn Scheme, time_left: &dyn Fn() -> f64) -> Result<Vec<Plan>, PlanError> {
        let one_level = |plan: &Plan| Plan { levels: 1, ..plan.clone() };
        let running: Vec<Plan> = self.plans.iter().map(one_level).collect();
        let Some(first) = running.first() else { return Ok(Vec::new()) };
        let options = Options {
            keep_shares: true,
            paths: first.paths.unwrap_or(Paths::Any),
            results: if first.results_counted { Results::Counted } else { Results::Ignored },
            time_left,
            ..Options::new(scheme)
        };
        let may_change: Vec<bool> = running.iter().map(|plan| self.may_share(plan)).collect();
        if may_change.iter().all(|may| *may) {
            return plan_again(&self.topology, &running, &Options { keep_shares: false, ..options });
        }
        let mut plans = plan_again(&self.topology, &running, &options)?;
        if may_change.contains(&true) {
            let of = |plans: &[Plan], wanted: bool| -> Vec<Plan> {
                let all = plans.iter().zip(&may_change);
                all.filter(|(_, may)| **may == wanted).map(|(plan, _)| plan.clone()).collect()
            };
            let left = self.topology.occupied_by(&of(&plans, false));
            let options = Options { keep_shares: false, ..options };
            let free = plan_again(&left, &of(&running, true), &options)?;
            let may_change = plans.iter_mut().zip(&may_change).filter(|(_, may)| **may);
            may_change.zip(free).for_each(|((plan, _), free)| *plan = free);
        }
        Ok(plans)
    }

    /// Returns whether the shares of a job may change.
    pub(crate) fn may_share(&self, plan: &Plan) -> bool {
        self.shares == Shares::Free && self.topology.job_named(&plan.job).is_some_and(|job| job.elastic)
    }
}
