//! Errors that end a run.

use inart_peers_agent::SetupError;
use inart_world::Stuck as NoEnd;

/// Error that ends a run.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SimulationError {
    /// Updates of different lengths, which processes could not average.
    #[error(
        "job {job}: the update of {peer} has another length than that of {first}; peers average one model, so \
         leave out `updates`"
    )]
    Lengths {
        /// The job.
        job: String,
        /// Sender of the update.
        peer: String,
        /// The first peer.
        first: String,
    },
    /// Settings for one round only.
    #[error(
        "job {job}: `required_pairs` and `rounds_since_contact` are about one round, which `inart plan` plans; leave \
         them out for a training"
    )]
    OneRound {
        /// The job.
        job: String,
    },
    /// Scheme without an answer for concurrent multicasts.
    #[error("scheme optimal plans whole rounds; with ssp run selmcast, orpheus or optimized")]
    RoundsOnly,
    /// Job without compute times.
    #[error("job {job} has no compute time; add `compute: {{mean: 1 s, cv: 0.57}}`")]
    NoCompute {
        /// The job.
        job: String,
    },
    /// Zero chunks, rounds or time.
    #[error("{what} must be above 0")]
    Nothing {
        /// Setting that is 0.
        what: &'static str,
    },
    /// More rounds than the limit.
    #[error("{rounds:.0} rounds of job {job} fit into the duration, and {most} are run; give a shorter one")]
    TooLong {
        /// The job.
        job: String,
        /// Rounds of the fastest peer.
        rounds: f64,
        /// Most rounds that are run.
        most: u32,
    },
    /// Update with fewer values than chunks, or more ranks than frames can name.
    #[error("job {job}: {problem}")]
    Job {
        /// The job.
        job: String,
        /// Problem and fix.
        problem: String,
    },
    /// Invalid setup of a peer.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// No receivers.
    #[error("no receivers were chosen: {why}")]
    NotChosen {
        /// Reason.
        why: String,
    },
    /// Wrong behavior of peers or coordinator, which is a defect of this program.
    #[error("peer {peer}, round {round}: {what}; please report this defect with the command")]
    Wrong {
        /// Sender of the update, or owner of the average.
        peer: String,
        /// Round of the peer.
        round: u32,
        /// Problem.
        what: String,
    },
    /// No further event, or none before the end of the run.
    #[error("after {seconds} s of virtual time no peer has ended: {waits}")]
    Stuck {
        /// Time in seconds.
        seconds: f64,
        /// State of a peer.
        waits: String,
    },
}

/// Converts to an error whose peer the run adds.
impl From<NoEnd> for SimulationError {
    fn from(_: NoEnd) -> Self {
        SimulationError::Stuck { seconds: 0.0, waits: String::new() }
    }
}
