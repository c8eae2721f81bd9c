//! Migration of a running job to other routes.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt::Display;

use inart_wire::PlanVersion;
use thiserror::Error;

use crate::{Assignment, AssignmentError, ShardAssignment};

/// Step of a host's migration to another plan version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MigrationStep {
    /// Immediate migration.
    #[default]
    Move,
    /// Preparation: a worker learns of the plan version, and will follow its servers; a server continues as
    /// before.
    Prepare,
    /// Coordinated cut-over: all workers know the plan version, a server starts using it, and a worker
    /// follows.
    Lead,
}

/// Progress of a host's migration to the plan version of its last notification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MigrationProgress {
    /// Whether it still sends in the previous plan version, or waits for results of chunks sent there.
    pub is_lagging: bool,
    /// Results that a worker has got so far.
    pub results: u64,
}

/// Reason why a host does not migrate to another plan version. It continues as before.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum RerouteError {
    /// The assignment contradicts itself.
    #[error(transparent)]
    Assignment(#[from] AssignmentError),
    /// An assignment of another job, or of this job with other parts.
    #[error(
        "{field}: {seen} instead of {expected}; a migration changes plan version, bitmap indices and rates only: restart the job"
    )]
    Differs {
        /// Field that differs, as in the assignment's JSON.
        field: String,
        /// Value in the new assignment.
        seen: String,
        /// Value of the running job.
        expected: String,
    },
    /// Other bitmap indices for a plan version that is open already.
    #[error(
        "shards[{shard}].bitmap indices differs from the bitmap indices already installed for plan version {plan_version}; use a new plan version"
    )]
    OtherBitmapIndices {
        /// Index of the shard.
        shard: usize,
        /// The plan version.
        plan_version: PlanVersion,
    },
    /// The host is between two plan versions, and this would be a third.
    #[error(
        "plan version {wanted}: plan versions {old} and {current} are open; close plan version {old} first"
    )]
    TwoOpen {
        /// Plan version to migrate to.
        wanted: PlanVersion,
        /// Previous plan version.
        old: PlanVersion,
        /// The one that it is in.
        current: PlanVersion,
    },
}

impl Assignment {
    /// Checks that a job of this assignment can go on with `next`: all is the same but plan version, bitmap
    /// indices and rates.
    ///
    /// # Errors
    ///
    /// [`RerouteError::Assignment`] if `next` is invalid, else [`RerouteError::Differs`] with the first field
    /// that differs.
    pub fn check_reroute(&self, next: &Self) -> Result<(), RerouteError> {
        next.validate()?;
        same("job", next.job, self.job)?;
        same("name", &next.name, &self.name)?;
        same("values_per_frame", next.values_per_frame.get(), self.values_per_frame.get())?;
        same("window_chunks", next.window_chunks, self.window_chunks)?;
        same("exact", next.exact_sums, self.exact_sums)?;
        same("workers", next.workers.len(), self.workers.len())?;
        for (rank, (next, now)) in next.workers.iter().zip(&self.workers).enumerate() {
            same(format_args!("workers[{rank}].name"), &next.name, &now.name)?;
            same(format_args!("workers[{rank}].mac"), next.mac, now.mac)?;
        }
        same("shards", next.shards.len(), self.shards.len())?;
        for (shard, (next, now)) in next.shards.iter().zip(&self.shards).enumerate() {
            same(format_args!("shards[{shard}].server"), &next.server, &now.server)?;
            same(format_args!("shards[{shard}].mac"), next.mac, now.mac)?;
            same(format_args!("shards[{shard}].share"), next.share, now.share)?;
        }
        Ok(())
    }
}

/// Returns whether `next` has another plan version than the host's, for the same job. `old` is the previous
/// plan version, if it is open.
///
/// # Errors
/// The reason why the host cannot migrate to it.
pub(crate) fn is_move(
    current: &Assignment,
    old: Option<&Assignment>,
    next: &Assignment,
) -> Result<bool, RerouteError> {
    current.check_reroute(next)?;
    let open = [Some(current), old].into_iter().flatten();
    if let Some(known) = open.clone().find(|known| known.plan_version == next.plan_version) {
        let differ =
            |(next, known): (&ShardAssignment, &ShardAssignment)| next.bitmap_indices != known.bitmap_indices;
        return match next.shards.iter().zip(&known.shards).position(differ) {
            Some(shard) => Err(RerouteError::OtherBitmapIndices { shard, plan_version: next.plan_version }),
            None => Ok(next.plan_version != current.plan_version),
        };
    }
    match old {
        Some(old) => Err(RerouteError::TwoOpen {
            wanted: next.plan_version,
            old: old.plan_version,
            current: current.plan_version,
        }),
        None => Ok(true),
    }
}

fn same<T: PartialEq + Display>(field: impl Display, seen: T, expected: T) -> Result<(), RerouteError> {
    if seen == expected {
        return Ok(());
    }
    let (seen, expected) = (seen.to_string(), expected.to_string());
    Err(RerouteError::Differs { field: format!("{field}"), seen, expected })
}
