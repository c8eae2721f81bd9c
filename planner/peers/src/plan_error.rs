//! Why there is no plan.

use crate::scheme::Scheme;

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// A network that the integer program is too large for.
    #[error(
        "scheme optimal: job {job} has {peers} peers and unequal updates, and it solves up to {most}; plan \
         with optimized, which proves its optimality gap"
    )]
    TooLarge {
        /// The job.
        job: String,
        /// How many peers it has.
        peers: usize,
        /// How many the scheme takes.
        most: usize,
    },
    /// The search for the optimum was given up.
    #[error("scheme optimal: the search for job {job} reached its limit; plan with optimized")]
    TooHard {
        /// The job.
        job: String,
    },
    /// A scheme that has no answer while multicasts come and go.
    #[error("scheme {scheme} plans whole rounds; with ssp run selmcast, orpheus or optimized")]
    RoundsOnly {
        /// The scheme.
        scheme: Scheme,
    },
    /// A training whose peers compute for nobody knows how long.
    #[error("job {job} has no compute time; add `compute: {{mean: 1 s, cv: 0.57}}`")]
    NoCompute {
        /// The job.
        job: String,
    },
    /// More rounds than anybody waits for.
    #[error(
        "{rounds:.0} rounds of job {job} fit into the duration, and {most:.0} are run; give a shorter one"
    )]
    TooLong {
        /// The job.
        job: String,
        /// How many rounds of the peer that computes shortest.
        rounds: f64,
        /// How many are run.
        most: f64,
    },
    /// A plan that does not fit its network.
    #[error("the plan's {place}: {problem}")]
    Plan {
        /// Where in the plan.
        place: String,
        /// The error, and its fix.
        problem: String,
    },
    /// A user's own receivers are asked for, and none are given.
    #[error("scheme own has no receivers of its own; give a plan with tasks")]
    NoReceivers,
    /// What the solver says.
    #[error("choosing receivers: {0}")]
    Solver(String),
}
