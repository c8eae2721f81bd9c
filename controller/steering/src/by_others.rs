//! Plans that somebody else put in force: jobs whose hosts came or went, or that were moved by hand.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use inart_planner_aggregation::Plan;

use crate::decision::Trigger;
use crate::question::Shares;

/// Rates and shares that differ by less than this part are the same.
const SAME: f64 = 1e-3;

/// What is known of the plans in force, and which of them were not put there by a decision.
#[derive(Debug, Clone, Default)]
pub(crate) struct ByOthers {
    /// By job: the plan that was in force last.
    known: BTreeMap<String, Plan>,
    /// Jobs with another one, which nobody was asked about.
    jobs: BTreeSet<String>,
    /// Whether servers of one of them came or went.
    servers: bool,
    /// Since when nothing has changed again, once that is known.
    since: Option<Duration>,
}

impl ByOthers {
    /// These plans were put in force by a decision, or when watching began.
    pub fn expect<'a>(&mut self, plans: impl IntoIterator<Item = &'a Plan>) {
        self.known.extend(plans.into_iter().map(|plan| (plan.job.clone(), plan.clone())));
    }

    /// These plans are in force. A job that is seen for the first time was planned beside the others.
    pub fn see(&mut self, plans: &[Plan]) {
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

    /// The question about those, `settle` after the last of them changed, and since when it is one.
    pub fn question(&mut self, now: Duration, settle: Duration) -> Option<(Trigger, Shares, Duration)> {
        if self.jobs.is_empty() {
            return None;
        }
        let since = *self.since.get_or_insert(now);
        let shares = if self.servers { Shares::Free } else { Shares::Kept };
        let trigger = || Trigger::Moved { jobs: self.jobs.iter().cloned().collect() };
        (now.saturating_sub(since) >= settle).then(|| (trigger(), shares, since))
    }

    /// Somebody was asked about all that.
    pub fn asked(&mut self) {
        (self.servers, self.since) = (false, None);
        self.jobs.clear();
    }
}

fn servers(plan: &Plan) -> BTreeSet<&str> {
    plan.shards.iter().map(|shard| &*shard.server).collect()
}

/// Whether hosts send otherwise by the one than by the other.
fn differ(one: &Plan, other: &Plan) -> bool {
    let routes = |plan: &Plan| (plan.flows.clone(), plan.trunks.clone(), plan.results.clone());
    let shares = || one.shards.iter().zip(&other.shards);
    (one.rate_bps - other.rate_bps).abs() > SAME * one.rate_bps
        || servers(one) != servers(other)
        || shares().any(|(one, other)| (one.share - other.share).abs() > SAME)
        || routes(one) != routes(other)
}
