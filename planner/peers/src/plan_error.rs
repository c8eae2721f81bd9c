//! Reasons for which there is no plan.

use crate::scheme::Scheme;

/// Reason for which there is no plan.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// Topology that the integer program is too large for.
    #[error(
        "scheme optimal: job {job} has {peers} peers and unequal updates, and it solves up to {most}; plan \
         with optimized, which proves its optimality gap"
    )]
    TooLarge {
        /// The job.
        job: String,
        /// Number of peers of the job.
        peers: usize,
        /// Most peers of the scheme.
        most: usize,
    },
    /// Search for the optimum that reached its limit.
    #[error("scheme optimal: the search for job {job} reached its limit; plan with optimized")]
    TooHard {
        /// The job.
        job: String,
    },
    /// Scheme without an answer for concurrent multicasts.
    #[error("scheme {scheme} plans whole rounds; with ssp run selmcast, orpheus or optimized")]
    RoundsOnly {
        /// The scheme.
        scheme: Scheme,
    },
    /// Job without compute times.
    #[error("job {job} has no compute time; add `compute: {{mean: 1 s, cv: 0.57}}`")]
    NoCompute {
        /// The job.
        job: String,
    },
    /// More rounds than the limit.
    #[error(
        "{rounds:.0} rounds of job {job} fit into the duration, and {most:.0} are run; give a shorter one"
    )]
    TooLong {
        /// The job.
        job: String,
        /// Rounds of the fastest peer.
        rounds: f64,
        /// Most rounds that are run.
        most: f64,
    },
    /// Plan that does not fit its topology.
    #[error("the plan's {place}: {problem}")]
    Plan {
        /// Place in the plan.
        place: String,
        /// Problem and fix.
        problem: String,
    },
    /// Scheme `own` without receivers.
    #[error("scheme own has no receivers of its own; give a plan with tasks")]
    NoReceivers,
    /// Failure of the solver.
    #[error("choosing receivers: {0}")]
    Solver(String),
}
