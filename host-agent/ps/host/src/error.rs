//! Errors that end a process.

use inart_ps_agent::WorkerError;
use inart_terms::TermsError;

use crate::checkpoint_file::CheckpointError;

/// Error that ends a process.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// Failure of a connection, or a reason other than the training.
    #[error(transparent)]
    Connections(#[from] inart_connections::Error),
    /// Unknown name.
    #[error("{name} is not a worker of job {job}; name one of {known}")]
    NoWorker {
        /// Given name.
        name: String,
        /// The job.
        job: String,
        /// The workers.
        known: String,
    },
    /// Server setting that does not fit its job.
    #[error("the model has {values} values, and job {job} one of {wanted}: start all with one model")]
    Model {
        /// The job.
        job: String,
        /// Values of the model.
        values: usize,
        /// Values of the job's model.
        wanted: usize,
    },
    /// Unusable checkpoint.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// Version that cannot be stored.
    #[error("{why}")]
    NotKept {
        /// The reason, as a line that names the file.
        why: String,
    },
    /// Settings of a training that no hello could carry.
    #[error("the terms of the training: {0}")]
    Terms(#[from] TermsError),
    /// Update of finite values that would make the model infinite.
    #[error(
        "the model becomes infinite by the update of {worker}, version {version} (value {at}): take a smaller step"
    )]
    Overflow {
        /// Sender of the update.
        worker: String,
        /// Version that the update would have made.
        version: u64,
        /// Index of the value.
        at: usize,
    },
    /// No worker for too long.
    #[error(
        "no worker of job {job} has been connected for {seconds:.0} s; start {workers}, or wait for longer"
    )]
    NoWorkers {
        /// The job.
        job: String,
        /// Time without a worker.
        seconds: f64,
        /// Names of the workers.
        workers: String,
    },
    /// End of a worker.
    #[error("worker {name}: {error}")]
    Worker {
        /// The worker.
        name: String,
        /// Reason.
        error: WorkerError,
    },
}
