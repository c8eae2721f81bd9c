//! Another plan for a job that runs: from the plan in force to one with the same servers and shares, whose
//! tables stand beside its own until all hosts have moved. Pure.

use std::collections::BTreeSet;

use inart_protocol_aggregation::Assignment;
use inart_wire::{JobId, PlanVersion};

use crate::assignment::JobPlan;
use crate::error::InstallError;
use crate::fabric::{Fabric, Numbers};
use crate::intent::{self, IntentError, Network};
use crate::records::{JobRecord, Push};

/// How far a share may be from the one in force: rounding in the planner.
const SHARE_TOLERANCE: f64 = 1e-6;

/// Where a change of a running job leads.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveChange {
    /// The job's number.
    pub job: JobId,
    /// The plan version in force.
    pub from: PlanVersion,
    /// The push that is to be in force.
    pub to: Push,
    /// What its hosts are told.
    pub assignment: Assignment,
    /// Plan versions that no host uses, which may still have entries before.
    pub stale: BTreeSet<PlanVersion>,
    /// What the switches hold before, without those.
    pub kept: Network,
    /// What they hold while hosts move: both plan versions.
    pub both: Network,
}

/// Why a job that runs cannot be moved to a plan.
#[derive(Debug, thiserror::Error)]
pub enum LiveChangeError {
    /// Nothing is in force for the job.
    #[error("job {job} has no active plan: install one")]
    NotInForce {
        /// The job.
        job: String,
    },
    /// Another change is under way.
    #[error(
        "job {job}: its change with plan version {other} has not ended: ask the controller for its status"
    )]
    UnderWay {
        /// The job.
        job: String,
        /// The plan version beside the one in force.
        other: PlanVersion,
    },
    /// It is in force already.
    #[error("job {job}: this plan is already active, under plan version {plan_version}")]
    Same {
        /// The job.
        job: String,
        /// Its plan version.
        plan_version: PlanVersion,
    },
    /// The plan would change what stays while a job runs.
    #[error(
        "job {job}: {field} is {now} in the active plan and {wanted} in this one, and cannot change while \
         the job runs: plan with \
         the same, or push the plan when the job has ended"
    )]
    Differs {
        /// The job.
        job: String,
        /// What differs.
        field: String,
        /// As it is.
        now: String,
        /// As it would be.
        wanted: String,
    },
    /// No room beside the plan in force.
    #[error(transparent)]
    Intent(#[from] IntentError),
    /// The plan does not hold on the network.
    #[error(transparent)]
    Plan(#[from] InstallError),
}

/// Computes where the change of a running job to another plan leads. `current` is what the switches hold,
/// `in_force` what the hosts were told last, `record` what is known of the job. Window and rate scale stay.
///
/// # Errors
/// Why the job cannot be moved.
pub fn live_change(
    fabric: &Fabric,
    current: &Network,
    record: &JobRecord,
    in_force: &Assignment,
    plan: inart_planner_aggregation::Plan,
) -> Result<LiveChange, LiveChangeError> {
    let name = || in_force.name.clone();
    let live = record.live().ok_or_else(|| LiveChangeError::NotInForce { job: name() })?;
    if let Some(change) = record.change {
        return Err(LiveChangeError::UnderWay { job: name(), other: change.other });
    }
    let job = JobPlan {
        job: in_force.job,
        plan,
        window_chunks: live.window_chunks,
        rate_scale: live.rate_scale,
        new_plan_version: true,
    };
    if *live == fabric.push(&job, live.plan_version) {
        return Err(LiveChangeError::Same { job: name(), plan_version: live.plan_version });
    }
    let mut assignment = fabric.assignment(&job)?;
    keep_shares(in_force, &mut assignment);
    if let Some((field, now, wanted)) = difference(in_force, &assignment) {
        return Err(LiveChangeError::Differs { job: name(), field, now, wanted });
    }
    // Made for other background traffic, maybe: its rates are what it was made for.
    let wanted = fabric.wanted(&job, Some(record), Numbers::Taken)?;
    let intent = intent::beside(fabric.limits, current, &wanted)?;
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

/// What the switches hold of `network` without a plan version of a job.
pub fn without(network: &Network, job: JobId, plan_version: PlanVersion) -> Network {
    let mut left = network.clone();
    left.values_mut().for_each(|tables| tables.retire(job, |other| other == plan_version));
    left
}

/// Shares that differ by rounding are those in force: hosts cut tensors by them.
fn keep_shares(in_force: &Assignment, assignment: &mut Assignment) {
    for (shard, now) in assignment.shards.iter_mut().zip(&in_force.shards) {
        if (shard.share - now.share).abs() <= SHARE_TOLERANCE && (shard.share > 0.0) == (now.share > 0.0) {
            shard.share = now.share;
        }
    }
}

/// The first of what must stay and does not: what it is, as it is, as it would be.
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
