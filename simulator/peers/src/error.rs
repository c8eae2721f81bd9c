//! Why a run ends without figures.

use inart_peers_agent::SetupError;
use inart_world::Stuck as NoEnd;

/// Why a run ends without figures.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SimulationError {
    /// An update that processes could not average.
    #[error(
        "job {job}: the update of {peer} has another length than that of {first}; peers average one model, so \
         leave out `updates`"
    )]
    Lengths {
        /// The job.
        job: String,
        /// Whose update.
        peer: String,
        /// The first peer.
        first: String,
    },
    /// What is about one round.
    #[error(
        "job {job}: `required_pairs` and `rounds_since_contact` are about one round, which `inart plan` plans; leave \
         them out for a training"
    )]
    OneRound {
        /// The job.
        job: String,
    },
    /// A scheme that has no answer while multicasts come and go.
    #[error("scheme optimal plans whole rounds; with ssp run selmcast, orpheus or optimized")]
    RoundsOnly,
    /// A training whose peers compute for nobody knows how long.
    #[error("job {job} has no compute time; add `compute: {{mean: 1 s, cv: 0.57}}`")]
    NoCompute {
        /// The job.
        job: String,
    },
    /// No chunks, no rounds, no time.
    #[error("{what} must be above 0")]
    Nothing {
        /// What is 0.
        what: &'static str,
    },
    /// More rounds than anybody waits for.
    #[error("{rounds:.0} rounds of job {job} fit into the duration, and {most} are run; give a shorter one")]
    TooLong {
        /// The job.
        job: String,
        /// How many rounds of the peer that computes shortest.
        rounds: f64,
        /// How many are run.
        most: u32,
    },
    /// An update of fewer values than it has chunks, or ranks that frames have no room for.
    #[error("job {job}: {problem}")]
    Job {
        /// The job.
        job: String,
        /// What is wrong, and the fix.
        problem: String,
    },
    /// A peer cannot be.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// No receivers.
    #[error("no receivers were chosen: {why}")]
    NotChosen {
        /// Why.
        why: String,
    },
    /// Peers and coordinator do not do what they are for. A defect of this program.
    #[error("peer {peer}, round {round}: {what}; please report this defect with the command")]
    Wrong {
        /// Whose update, or whose average.
        peer: String,
        /// Of which round.
        round: u32,
        /// What is wrong.
        what: String,
    },
    /// Nothing happens any more, or not before the end of all times.
    #[error("after {seconds} s of virtual time no peer has ended: {waits}")]
    Stuck {
        /// The time.
        seconds: f64,
        /// Where a peer is.
        waits: String,
    },
}

/// Where a peer is, the run adds.
impl From<NoEnd> for SimulationError {
    fn from(_: NoEnd) -> Self {
        SimulationError::Stuck { seconds: 0.0, waits: String::new() }
    }
}
