//! Why records cannot be used.

use std::path::PathBuf;

use inart_wire::JobId;

/// Records that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RecordsError {
    /// The file is in the way.
    #[error("records {path}: {reason}")]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong, and the fix.
        reason: String,
    },
    /// Somebody else pushed at the same time.
    #[error(
        "records {path}: another push or controller is at job {job} at the same time; when it is done, try again"
    )]
    Raced {
        /// The file.
        path: PathBuf,
        /// The job's number.
        job: JobId,
    },
}

/// Nothing to roll back to.
#[derive(Debug, thiserror::Error)]
#[error("job {job}: the records know no push before its last one, so there is nothing to go back to")]
pub struct NoEarlierPush {
    /// The job's name, or its number if nothing is known of it.
    pub job: String,
}
