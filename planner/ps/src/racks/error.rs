//! Reasons for which groups have no plan.

use inart_planner_aggregation::PlanError;
use inart_topologies::units::counted;

/// Reason for which groups have no plan.
#[derive(Debug, thiserror::Error)]
pub enum RackError {
    /// Group without a plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Too few or too many groups.
    #[error(
        "job {job}: {} of {}; give a number from 1 to {workers}",
        counted(*groups, "group"),
        counted(*workers, "worker")
    )]
    Groups {
        /// The job.
        job: String,
        /// Given number of groups.
        groups: usize,
        /// Number of workers of the job.
        workers: usize,
    },
    /// Exact sums, which groups do not support.
    #[error("job {0} has exact sums, which groups cannot use; leave `sum: exact` out")]
    Exact(String),
}
