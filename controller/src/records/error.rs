//! Errors of records.

use std::path::PathBuf;

use inart_wire::JobId;

/// Records that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RecordsError {
    /// Unusable file.
    #[error("records {path}: {reason}")]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Problem, and the fix.
        reason: String,
    },
    /// Concurrent installation.
    #[error(
        "records {path}: another installation or controller changed job {job} at the same time; try again after it has ended"
    )]
    Raced {
        /// Path of the file.
        path: PathBuf,
        /// Number of the job.
        job: JobId,
    },
}

/// Missing earlier plan.
#[derive(Debug, thiserror::Error)]
#[error("job {job}: the records have no earlier plan to roll back to")]
pub struct NoEarlierPush {
    /// Name of the job, or its number if the records lack it.
    pub job: String,
}
