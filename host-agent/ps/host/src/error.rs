//! Why a process cannot go on.

use inart_order_agent::WorkerError;
use inart_quic::OpenError;
use inart_terms::TermsError;
use inart_wire::MacAddr;

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
    /// Somebody without an address.
    #[error("{name} has no address; say where it is, as {name}={form}")]
    NoAddress {
        /// Who.
        name: String,
        /// How addresses are written.
        form: &'static str,
    },
    /// The interface cannot be used.
    #[error(transparent)]
    Interface(#[from] inart_host_agent::Error),
    /// An interface that is not Ethernet.
    #[error("interface {interface}: it has no Ethernet address; name another one")]
    NoEthernet {
        /// Its name.
        interface: String,
    },
    /// An Ethernet address that is no host's.
    #[error("{name} at {address}: that is no host's address; give that of its interface")]
    NoHost {
        /// Who is said to have it.
        name: String,
        /// The address.
        address: MacAddr,
    },
    /// An Ethernet address that is somebody else's.
    #[error("{name} at {address}: {other} has that address; give each its own")]
    SameAddress {
        /// Who is said to have it.
        name: String,
        /// Who has it.
        other: String,
        /// The address.
        address: MacAddr,
    },
    /// More workers than frames can name.
    #[error("the job has more than {most} workers, which frames cannot name; use QUIC")]
    TooMany {
        /// As many as they can.
        most: u32,
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
    /// What was kept cannot be read, or not be written.
    #[error(transparent)]
    Kept(#[from] KeptError),
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
    /// Another process of its name is connected, and answers.
    #[error("{name}: refused: {reason}")]
    Duplicate {
        /// Its name.
        name: String,
        /// What the other side says.
        reason: String,
    },
    /// The process was stopped.
    #[error("{name} was stopped")]
    Stopped {
        /// Its name.
        name: String,
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
    /// No runtime.
    #[error("cannot start the network thread: {0}")]
    Runtime(std::io::Error),
    /// The network thread has ended.
    #[error("the network thread has ended; its log says why")]
    Gone,
}
