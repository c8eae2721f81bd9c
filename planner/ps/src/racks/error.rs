//! Why groups have no plan.

use inart_planner_aggregation::PlanError;
use inart_topologies::units::counted;

/// What is wrong.
#[derive(Debug, thiserror::Error)]
pub enum RackError {
    /// A group has no plan.
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
        /// How many were asked for.
        groups: usize,
        /// How many workers it has.
        workers: usize,
    },
    /// Groups do not take exact sums.
    #[error("job {0} has exact sums, which groups cannot use; leave `sum: exact` out")]
    Exact(String),
}
