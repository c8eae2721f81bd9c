//! What the planner is asked, by way of the state machine's owner.

use std::time::Duration;

use inart_planner_aggregation::{
    Occupied as _, Options, Paths, Plan, PlanError, Results, Scheme, plan_again,
};
use inart_topologies::switched::Topology;

use crate::decision::{Decision, Trigger};

/// Where the new plans carry so many times what those in force do, a change is not led.
const TOO_SLOW_TO_LEAD: f64 = 4.0;

/// Whether shares may be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shares {
    /// They stay: phase 2, routes and aggregation points.
    Kept,
    /// Phase 1 as well, of the jobs that can change them while they run: elastic ones.
    Free,
}

/// Plan these jobs on this network, from the plans in force.
#[derive(Debug, Clone)]
pub struct Question {
    /// Its number, from 1; the decision has the same.
    pub number: u64,
    /// When it was asked.
    pub at: Duration,
    /// Why.
    pub trigger: Trigger,
    /// The network as it is now: without what failed, with what others use.
    pub topology: Topology,
    /// The plans in force.
    pub plans: Vec<Plan>,
    /// Whether shares may be chosen.
    pub shares: Shares,
    /// Whether a plan in force carries nothing any more.
    pub is_urgent: bool,
    /// Since when what it is about may have been seen, if that is known.
    pub since: Option<Duration>,
}

impl Question {
    /// Whether the servers lead the change that was decided on, and workers follow them from chunk to chunk.
    /// That takes as long as the routes in force need for a window of chunks. Where they carry nothing, or
    /// less than a quarter of what the new plans do, every host moves when it is told.
    pub fn is_led(&self, decision: &Decision) -> bool {
        !self.is_urgent && decision.gain.is_some_and(|gain| gain < TOO_SLOW_TO_LEAD)
    }

    /// Plans: one plan per job, in the order of those in force. The paths are of the kind that the first plan
    /// in force states, results count if they do there. Plans of two levels are followed by plans of one.
    /// Where shares are free, the elastic jobs are planned anew beside the others, which keep theirs.
    /// `time_left` is as in [`Options::time_left`].
    ///
    /// # Errors
    /// What cannot be planned.
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

    /// Whether the shares of a job may be chosen.
    pub(crate) fn may_share(&self, plan: &Plan) -> bool {
        self.shares == Shares::Free && self.topology.job_named(&plan.job).is_some_and(|job| job.elastic)
    }
}
