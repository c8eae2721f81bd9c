//! Changes of active plans outside of decisions: hosts joined or left, or an operator changed a plan.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use inart_planner_aggregation::Plan;

use crate::decision::Trigger;
use crate::plan_request::Shares;

/// Relative difference below which rates and shares are equal.
const SAME: f64 = 1e-3;

/// Active plans, and the jobs whose plan changed without a decision.
#[derive(Debug, Clone, Default)]
pub(crate) struct ExternalChanges {
    /// Last active plan, by job.
    known: BTreeMap<String, Plan>,
    /// Jobs with a changed plan that no request has covered yet.
    jobs: BTreeSet<String>,
    /// Whether the servers of one of them changed.
    servers: bool,
    /// Start of the time without further changes, once known.
    since: Option<Duration>,
}

impl ExternalChanges {
    /// Notes plans that a decision or the start of watching activated.
    pub fn expect<'a>(&mut self, plans: impl IntoIterator<Item = &'a Plan>) {
        self.known.extend(plans.into_iter().map(|plan| (plan.job.clone(), plan.clone())));
    }

    /// Notes the active plans. A job seen for the first time was planned next to the others.
    pub fn note(&mut self, plans: &[Plan]) {
        for plan in plans {
            match self.known.insert(plan.job.clone(), plan.clone()) {
                Some(before) if differ(&before, plan) => {
                    self.jobs.insert(plan.job.clone());
                    self.servers |= servers(&before) != servers(plan);
                    self.since = None;
                }
                _ => {}
            }
        }
    }

    /// Returns the trigger for the changed jobs, `settle` after the last change, and since when it has
    /// existed.
    pub fn trigger(&mut self, now: Duration, settle: Duration) -> Option<(Trigger, Shares, Duration)> {
        if self.jobs.is_empty() {
            return None;
        }
        let since = *self.since.get_or_insert(now);
        let shares = if self.servers { Shares::Free } else { Shares::Kept };
        let trigger = || Trigger::Moved { jobs: self.jobs.iter().cloned().collect() };
        (now.saturating_sub(since) >= settle).then(|| (trigger(), shares, since))
    }

    /// Forgets the changes: a request covers them.
    pub fn clear(&mut self) {
        (self.servers, self.since) = (false, None);
        self.jobs.clear();
    }
}

fn servers(plan: &Plan) -> BTreeSet<&str> {
    plan.shards.iter().map(|shard| &*shard.server).collect()
}

/// Returns whether hosts send differently under the two plans.
fn differ(one: &Plan, other: &Plan) -> bool {
    let routes = |plan: &Plan| (plan.flows.clone(), plan.trunks.clone(), plan.results.clone());
    let shares = || one.shards.iter().zip(&other.shards);
    (one.rate_bps - other.rate_bps).abs() > SAME * one.rate_bps
        || servers(one) != servers(other)
        || shares().any(|(one, other)| (one.share - other.share).abs() > SAME)
        || routes(one) != routes(other)
}
