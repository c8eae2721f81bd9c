//! Why a process cannot go on.

use inart_ps_agent::WorkerError;
use inart_terms::TermsError;

use crate::kept_file::KeptError;

/// Why a process cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The connections, or a process that must end for another reason than its training.
    #[error(transparent)]
    Connections(#[from] inart_connections::Error),
    /// Nobody of that name.
    #[error("{name} is not a worker of job {job}; name one of {known}")]
    NoWorker {
        /// As given.
        name: String,
        /// The job.
        job: String,
        /// The workers.
        known: String,
    },
    /// The server's setting does not fit its job.
    #[error("the model has {values} values, and job {job} one of {wanted}: start all with one model")]
    Model {
        /// The job.
        job: String,
        /// The model's.
        values: usize,
        /// The job's.
        wanted: usize,
    },
    /// What was kept cannot be read.
    #[error(transparent)]
    Kept(#[from] KeptError),
    /// A version cannot be kept.
    #[error("{why}")]
    NotKept {
        /// The reason, as a line that names the file.
        why: String,
    },
    /// Terms of a training that no hello could carry.
    #[error("the terms of the training: {0}")]
    Terms(#[from] TermsError),
    /// An update of finite values would make the model infinite.
    #[error(
        "the model becomes infinite by the update of {worker}, version {version} (value {at}): take a smaller step"
    )]
    Overflow {
        /// Whose update.
        worker: String,
        /// The version that it would have made.
        version: u64,
        /// Which value.
        at: usize,
    },
    /// No worker for too long.
    #[error(
        "no worker of job {job} has been connected for {seconds:.0} s; start {workers}, or wait for longer"
    )]
    NoWorkers {
        /// The job.
        job: String,
        /// For how long.
        seconds: f64,
        /// The workers' names.
        workers: String,
    },
    /// The worker cannot go on.
    #[error("worker {name}: {error}")]
    Worker {
        /// The worker.
        name: String,
        /// Why.
        error: WorkerError,
    },
}
