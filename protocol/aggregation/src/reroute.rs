//! What a job's routes may be changed to while it runs.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt::Display;

use inart_wire::Epoch;
use thiserror::Error;

use crate::{Assignment, AssignmentError, ShardAssignment};

/// How a host comes to another epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MoveStep {
    /// It moves at once.
    #[default]
    Move,
    /// A worker learns of the epoch, and will follow its servers; a server goes on as it is.
    Prepare,
    /// All workers know the epoch: a server leads to it, and a worker follows.
    Lead,
}

/// How far a host is on its way to the epoch that it was told of last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MoveProgress {
    /// Whether it still sends in the epoch before, or waits for results of chunks that it sent there.
    pub lags: bool,
    /// Results that a worker has got so far.
    pub results: u64,
}

/// Why a host does not move to another epoch. It goes on as it did.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum RerouteError {
    /// The assignment contradicts itself.
    #[error(transparent)]
    Assignment(#[from] AssignmentError),
    /// The assignment is of another job, or of this job with other parts.
    #[error(
        "{field}: {seen} instead of {expected}; a migration changes epoch, seats and rates only: restart the job"
    )]
    Differs {
        /// What differs, as in the assignment's JSON.
        field: String,
        /// What the new assignment says.
        seen: String,
        /// What the job runs with.
        expected: String,
    },
    /// Seats of an epoch that is open already are others now.
    #[error(
        "shards[{shard}].seats differs from the seats already installed for epoch {epoch}; use a new epoch"
    )]
    OtherSeats {
        /// Index of the shard.
        shard: usize,
        /// The epoch.
        epoch: Epoch,
    },
    /// The host is between two epochs, and this would be a third.
    #[error("epoch {wanted}: epochs {old} and {current} are open; close epoch {old} first")]
    TwoOpen {
        /// The epoch that it should move to.
        wanted: Epoch,
        /// The one that it came from.
        old: Epoch,
        /// The one that it is in.
        current: Epoch,
    },
}

impl Assignment {
    /// Checks that a job of this assignment can go on with `next`: all is the same but epoch, seats and
    /// rates.
    ///
    /// # Errors
    /// [`RerouteError::Assignment`] if `next` contradicts itself, else [`RerouteError::Differs`] with the
    /// first field that differs.
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

/// Whether `next` is another epoch than the host is in, of the same job. `old` is the epoch before, if it is
/// open.
///
/// # Errors
/// Why the host does not go on with it.
pub(crate) fn is_move(
    current: &Assignment,
    old: Option<&Assignment>,
    next: &Assignment,
) -> Result<bool, RerouteError> {
    current.check_reroute(next)?;
    let open = [Some(current), old].into_iter().flatten();
    if let Some(told) = open.clone().find(|told| told.epoch == next.epoch) {
        let differ = |(next, told): (&ShardAssignment, &ShardAssignment)| next.seats != told.seats;
        return match next.shards.iter().zip(&told.shards).position(differ) {
            Some(shard) => Err(RerouteError::OtherSeats { shard, epoch: next.epoch }),
            None => Ok(next.epoch != current.epoch),
        };
    }
    match old {
        Some(old) => {
            Err(RerouteError::TwoOpen { wanted: next.epoch, old: old.epoch, current: current.epoch })
        }
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
