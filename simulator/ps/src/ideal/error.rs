//! Why a run has no result.

use inart_protocol_ps::{GroupError, SyncModelError};
use inart_topologies::units::counted;

/// What is wrong with a run.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RunError {
    /// The job's participants meet the server otherwise.
    #[error("job {job} has {has}, and this order is for {wanted}: name them `{wanted}` in the document")]
    Kind {
        /// The job.
        job: String,
        /// What it has.
        has: &'static str,
        /// What is wanted.
        wanted: &'static str,
    },
    /// Nothing can be said of so few.
    #[error("{}: give at least 2, of which the first third is not counted", counted(*.0, "iteration"))]
    Iterations(u32),
    /// Nothing can be said of so few.
    #[error(
        "{} of each group: give at least 4, of which the first three are not counted",
        counted(*.0, "round")
    )]
    Rounds(u32),
    /// A policy's numbers are wrong.
    #[error(transparent)]
    SyncModel(#[from] SyncModelError),
    /// Groups are wrong.
    #[error(transparent)]
    Groups(#[from] GroupError),
    /// The run would not end in time.
    #[error("after {pushes} pushes {waited_for} has not pushed: compute times differ too much")]
    TooLong {
        /// How many pushes there were.
        pushes: u64,
        /// Who is last.
        waited_for: String,
    },
    /// Everybody waits for somebody who is gone.
    #[error(
        "deadlock at {at_s:.3} s: all others wait for {waited_for}, which has failed; give the server a patience"
    )]
    Stalled {
        /// When the last thing happened.
        at_s: f64,
        /// Who is gone.
        waited_for: String,
    },
}
