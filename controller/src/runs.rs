//! The next run of an elastic job: its plan, for other hosts maybe, in place of the one before. No host uses
//! that any more. Pure.

use inart_core::Assignment;
use inart_planner::Plan;
use inart_wire::JobId;

use crate::assignment::JobPlan;
use crate::fabric::{Fabric, Numbers};
use crate::intent::{self, Network};
use crate::live::LiveChangeError;
use crate::records::{JobRecord, Push};

/// Where the next run of a job leads.
#[derive(Debug, Clone, PartialEq)]
pub struct NextRun {
    /// The push that is to be in force.
    pub to: Push,
    /// What its hosts are told.
    pub assignment: Assignment,
    /// What the switches hold then.
    pub desired: Network,
}

/// Computes where the next run of a job leads that nobody runs now. `current` is what the switches hold,
/// `record` what is known of the job. Window and rate scale stay. All its older epochs go.
///
/// # Errors
/// Why there is no such run.
pub fn next_run(
    fabric: &Fabric,
    current: &Network,
    record: &JobRecord,
    job: JobId,
    plan: Plan,
) -> Result<NextRun, LiveChangeError> {
    let live = record.live().ok_or_else(|| LiveChangeError::NotInForce { job: plan.job.clone() })?;
    let (window_chunks, rate_scale) = (live.window_chunks, live.rate_scale);
    let job = JobPlan { job, plan, window_chunks, rate_scale, new_epoch: true };
    let mut assignment = fabric.assignment(&job)?;
    let mut wanted = fabric.wanted(&job, Some(record), Numbers::Taken)?;
    wanted.known.stale.extend(wanted.known.live.into_iter().chain(wanted.known.open));
    let intent = intent::beside(fabric.limits, current, &wanted)?;
    assignment.epoch = intent.epochs[&job.job];
    Ok(NextRun { to: fabric.push(&job, assignment.epoch), assignment, desired: intent.desired })
}
