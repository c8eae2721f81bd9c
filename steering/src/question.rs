//! What the planner is asked, by way of the state machine's owner.

use std::time::Duration;

use inart_planner::{Options, Paths, Plan, PlanError, Results, Scheme, Topology, plan_again};

use crate::decision::Trigger;

/// Whether shares may be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shares {
    /// They stay: phase 2, routes and aggregation points.
    Kept,
    /// Phase 1 as well.
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
}

impl Question {
    /// Plans: one plan per job, in the order of those in force. The paths are of the kind that the first plan
    /// in force states, results count if they do there. Plans of two levels are followed by plans of one.
    /// `time_left` is as in [`Options::time_left`].
    ///
    /// # Errors
    /// What cannot be planned.
    pub fn plan(&self, scheme: &dyn Scheme, time_left: &dyn Fn() -> f64) -> Result<Vec<Plan>, PlanError> {
        let one_level = |plan: &Plan| Plan { levels: 1, ..plan.clone() };
        let running: Vec<Plan> = self.plans.iter().map(one_level).collect();
        let Some(first) = running.first() else { return Ok(Vec::new()) };
        let options = Options {
            keep_shares: self.shares == Shares::Kept,
            paths: first.paths.unwrap_or(Paths::Any),
            results: if first.results_counted { Results::Counted } else { Results::Ignored },
            time_left,
            ..Options::new(scheme)
        };
        plan_again(&self.topology, &running, &options)
    }
}
