//! Why a process cannot go on.

use inart_order_agent::WorkerError;
use inart_quic::OpenError;

use crate::kept_file::KeptError;

/// Why a process cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// Its address or its certificates.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Nobody of that name.
    #[error("{name} is no worker of job {job}; name one of {known}")]
    NoWorker {
        /// As given.
        name: String,
        /// The job.
        job: String,
        /// The workers.
        known: String,
    },
    /// A worker without an address.
    #[error("worker {0} has no address; say where it is, as {0}=HOST:PORT")]
    NoAddress(String),
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
    /// What was kept cannot be read, or not be written.
    #[error(transparent)]
    Kept(#[from] KeptError),
    /// The worker cannot go on.
    #[error("worker {name}: {error}")]
    Worker {
        /// The worker.
        name: String,
        /// Why.
        error: WorkerError,
    },
    /// No runtime.
    #[error("cannot start the network thread: {0}")]
    Runtime(std::io::Error),
    /// The network thread has ended.
    #[error("the network thread has ended; its log says why")]
    Gone,
}
