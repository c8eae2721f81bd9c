//! Another plan for a running job, with the same servers and shares: its tables stand next to the active
//! ones until all hosts have migrated. Pure.

use std::collections::BTreeSet;

use inart_protocol_aggregation::Assignment;
use inart_wire::{JobId, PlanVersion};

use crate::assignment::JobPlan;
use crate::error::InstallError;
use crate::fabric::{Fabric, Numbers};
use crate::intent::{self, IntentError, Network};
use crate::records::{JobRecord, Push};

/// Largest difference of a share from the active one that counts as the planner's rounding.
const SHARE_TOLERANCE: f64 = 1e-6;

/// Change of a running job.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveChange {
    /// Number of the job.
    pub job: JobId,
    /// Active plan version.
    pub from: PlanVersion,
    /// New push.
    pub to: Push,
    /// New assignment of the hosts.
    pub assignment: Assignment,
    /// Unused plan versions that may still have entries before.
    pub stale: BTreeSet<PlanVersion>,
    /// Tables before, without those plan versions.
    pub kept: Network,
    /// Tables while hosts migrate: both plan versions.
    pub both: Network,
}

/// Why a running job cannot migrate to a plan.
#[derive(Debug, thiserror::Error)]
pub enum LiveChangeError {
    /// Job without an active plan.
    #[error("job {job} has no active plan: install one")]
    NoActivePlan {
        /// Name of the job.
        job: String,
    },
    /// Another change in flight.
    #[error(
        "job {job}: its change with plan version {other} has not ended: ask the controller for its status"
    )]
    InFlight {
        /// Name of the job.
        job: String,
        /// Plan version next to the active one.
        other: PlanVersion,
    },
    /// Plan that is active already.
    #[error("job {job}: this plan is already active, under plan version {plan_version}")]
    Same {
        /// Name of the job.
        job: String,
        /// Plan version of the job.
        plan_version: PlanVersion,
    },
    /// Change of a fixed property of running jobs.
    #[error(
        "job {job}: {field} is {now} in the active plan and {wanted} in this one, and cannot change while \
         the job runs: plan with \
         the same, or apply the plan after the job has ended"
    )]
    Differs {
        /// Name of the job.
        job: String,
        /// Property.
        field: String,
        /// Current value.
        now: String,
        /// Wanted value.
        wanted: String,
    },
    /// Lack of room next to the active plan.
    #[error(transparent)]
    Intent(#[from] IntentError),
    /// Plan that does not hold on the network.
    #[error(transparent)]
    Plan(#[from] InstallError),
}

/// Computes the change of a running job to another plan. `current` are the switches' tables, `active` is
/// the hosts' assignment, `record` the job's record. Window and rate scale stay.
///
/// # Errors
/// A job that cannot migrate.
pub fn live_change(
    fabric: &Fabric,
    current: &Network,
    record: &JobRecord,
    active: &Assignment,
    plan: inart_planner_aggregation::Plan,
) -> Result<LiveChange, LiveChangeError> {
    let name = || active.name.clone();
    let live = record.live().ok_or_else(|| LiveChangeError::NoActivePlan { job: name() })?;
    if let Some(change) = record.change {
        return Err(LiveChangeError::InFlight { job: name(), other: change.other });
    }
    let job = JobPlan {
        job: active.job,
        plan,
        window_chunks: live.window_chunks,
        rate_scale: live.rate_scale,
        new_plan_version: true,
    };
    if *live == fabric.push(&job, live.plan_version) {
        return Err(LiveChangeError::Same { job: name(), plan_version: live.plan_version });
    }
    let mut assignment = fabric.assignment(&job)?;
    keep_shares(active, &mut assignment);
    if let Some((field, now, wanted)) = difference(active, &assignment) {
        return Err(LiveChangeError::Differs { job: name(), field, now, wanted });
    }
    // The plan may be made for other background traffic: its rates are not checked.
    let wanted = fabric.wanted(&job, Some(record), Numbers::Unchecked)?;
    let intent = intent::live_intent(fabric.limits, current, &wanted)?;
    assignment.plan_version = intent.plan_versions[&job.job];
    Ok(LiveChange {
        job: job.job,
        from: live.plan_version,
        stale: record.stale.clone(),
        to: fabric.push(&job, assignment.plan_version),
        assignment,
        kept: intent.kept,
        both: intent.desired,
    })
}

/// Returns `network` without a plan version of a job.
pub fn without(network: &Network, job: JobId, plan_version: PlanVersion) -> Network {
    let mut left = network.clone();
    left.values_mut().for_each(|tables| tables.retire(job, |other| other == plan_version));
    left
}

/// Keeps active shares that differ by rounding only, since hosts cut tensors by them.
fn keep_shares(active: &Assignment, assignment: &mut Assignment) {
    for (shard, now) in assignment.shards.iter_mut().zip(&active.shards) {
        if (shard.share - now.share).abs() <= SHARE_TOLERANCE && (shard.share > 0.0) == (now.share > 0.0) {
            shard.share = now.share;
        }
    }
}

/// Returns the first fixed property that differs: name, current value, wanted value.
fn difference(now: &Assignment, wanted: &Assignment) -> Option<(String, String, String)> {
    let workers = |of: &Assignment| {
        of.workers.iter().map(|worker| format!("{} ({})", worker.name, worker.mac)).collect::<Vec<_>>()
    };
    let servers = |of: &Assignment| {
        of.shards.iter().map(|shard| format!("{} ({})", shard.server, shard.mac)).collect::<Vec<_>>()
    };
    let lists = [
        ("the list of workers", workers(now), workers(wanted)),
        ("the list of servers", servers(now), servers(wanted)),
    ];
    if let Some((field, now, wanted)) = lists.into_iter().find(|(_, now, wanted)| now != wanted) {
        return Some((field.to_owned(), now.join(", "), wanted.join(", ")));
    }
    let shares = now.shards.iter().zip(&wanted.shards);
    if let Some((now, wanted)) = shares.into_iter().find(|(now, wanted)| now.share != wanted.share) {
        let (share, wanted) = (now.share.to_string(), wanted.share.to_string());
        return Some((format!("the share of server {}", now.server), share, wanted));
    }
    let exact = |of: &Assignment| if of.exact_sums { "exact" } else { "scaled" }.to_owned();
    if now.exact_sums != wanted.exact_sums {
        return Some(("the kind of sums".to_owned(), exact(now), exact(wanted)));
    }
    let values = |of: &Assignment| of.values_per_frame.to_string();
    (now.values_per_frame != wanted.values_per_frame)
        .then(|| ("the number of values per frame".to_owned(), values(now), values(wanted)))
}
