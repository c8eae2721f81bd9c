//! Errors of planning.

/// Reason why no plan was computed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Background traffic that leaves no route.
    #[error(
        "job {job}: background traffic leaves worker {worker} no route to server {server}; lower it or \
         raise a link's rate"
    )]
    Unreachable {
        /// Job.
        job: String,
        /// Worker.
        worker: String,
        /// Server.
        server: String,
    },
    /// Background traffic that leaves no path for results.
    #[error(
        "job {job}: background traffic leaves results of server {server} no way back to worker {worker}; \
         lower it, raise a \
         link's rate, or leave results out of account"
    )]
    NoWayBack {
        /// Job.
        job: String,
        /// Server.
        server: String,
        /// Worker.
        worker: String,
    },
    /// A resource that every plan needs is used up by background traffic.
    #[error("job {job}: {resource} has no capacity left; lower its background traffic or raise its capacity")]
    Exhausted {
        /// Job.
        job: String,
        /// Resource.
        resource: String,
    },
    /// Planned in turn, an exhausted resource after the earlier jobs.
    #[error("job {job}: the jobs before it leave {left_out}; plan it before them, or all together")]
    TakenBefore {
        /// Job.
        job: String,
        /// Missing resource, in words.
        left_out: String,
    },
    /// A scheme that cannot plan several jobs together.
    #[error("the scheme {scheme} plans one job; use optimized, or plan the jobs in turn")]
    OneJob {
        /// Scheme.
        scheme: &'static str,
    },
    /// Two levels for several jobs together.
    #[error("jobs planned together have one level; plan them in turn, or with one level")]
    OneLevel,
    /// A running plan to start several jobs from.
    #[error("a running plan is of one job, and there are several; start one job from it")]
    OneRunning,
    /// A running plan that shares resources with other jobs, whose plans are unknown here.
    #[error("job {job}: its running plan was made together with other jobs; plan all of them again")]
    SharedWithOthers {
        /// Job.
        job: String,
    },
    /// The network is too large for `exact`.
    #[error(
        "job {job}: too large for the scheme optimal; use optimized, which states how far it can be from the best"
    )]
    TooLarge {
        /// Job.
        job: String,
    },
    /// The plan to start from is not one of this job on this network.
    #[error(
        "job {job}: the running plan is for {what}; start from a plan of this job on this topology, or from none"
    )]
    Foreign {
        /// The job to plan.
        job: String,
        /// Subject of the running plan.
        what: String,
    },
    /// Shares to keep that belong to other servers.
    #[error(
        "job {job}: the running plan's shares cannot be kept: {what}; plan with free shares, or start from a plan of the \
         same servers"
    )]
    Shares {
        /// The job to plan.
        job: String,
        /// Difference.
        what: String,
    },
    /// Two levels with a scheme that has one, or together with a running plan.
    #[error(
        "scheme {scheme}: two levels need a scheme that has them, such as the scheme optimized, and no running \
         plan to start from"
    )]
    Levels {
        /// Scheme.
        scheme: &'static str,
    },
    /// Routes of a scheme that are not a plan.
    #[error("job {job}: the routes of scheme {scheme} are not a plan: {problem}")]
    Draft {
        /// Job.
        job: String,
        /// Scheme.
        scheme: &'static str,
        /// Problem.
        problem: String,
    },
    /// Failure of the LP solver, in a scheme without an alternative.
    #[error(
        "job {job}: the solver of the linear program failed ({reason}); plan with the scheme optimized, which works without it"
    )]
    Solver {
        /// Job.
        job: String,
        /// Error of the solver.
        reason: String,
    },
}
