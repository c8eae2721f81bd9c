//! Errors that end a run.

use inart_protocol_ps::{GroupError, SyncModelError};
use inart_topologies::units::counted;

/// Error that ends a run.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RunError {
    /// Participants of the wrong kind for the synchronization.
    #[error("job {job} has {has}, and this order is for {wanted}: name them `{wanted}` in the document")]
    Kind {
        /// The job.
        job: String,
        /// Kind of the job's participants.
        has: &'static str,
        /// Kind of participants that the synchronization needs.
        wanted: &'static str,
    },
    /// Too few iterations for statistics.
    #[error("{}: give at least 2, of which the first third is not counted", counted(*.0, "iteration"))]
    Iterations(u32),
    /// Too few rounds for statistics.
    #[error(
        "{} of each group: give at least 4, of which the first three are not counted",
        counted(*.0, "round")
    )]
    Rounds(u32),
    /// Invalid synchronization model.
    #[error(transparent)]
    SyncModel(#[from] SyncModelError),
    /// Invalid groups.
    #[error(transparent)]
    Groups(#[from] GroupError),
    /// Run that would not end in time.
    #[error("after {pushes} pushes {waited_for} has not pushed: compute times differ too much")]
    TooLong {
        /// Number of pushes.
        pushes: u64,
        /// Slowest participant.
        waited_for: String,
    },
    /// Deadlock: all participants wait for absent ones.
    #[error(
        "deadlock at {at_s:.3} s: all others wait for {waited_for}, which has failed; give the server a patience"
    )]
    Stalled {
        /// Time of the last event.
        at_s: f64,
        /// Absent participants.
        waited_for: String,
    },
}
