//! Why there is no plan.

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Background traffic leaves no route.
    #[error(
        "job {job}: background traffic leaves worker {worker} no route to server {server}; lower it or \
         raise a link's rate"
    )]
    Unreachable {
        /// The job.
        job: String,
        /// The worker.
        worker: String,
        /// The server.
        server: String,
    },
    /// Background traffic leaves results no way back.
    #[error(
        "job {job}: background traffic leaves results of server {server} no way back to worker {worker}; \
         lower it, raise a \
         link's rate, or leave results out of account"
    )]
    NoWayBack {
        /// The job.
        job: String,
        /// The server.
        server: String,
        /// The worker.
        worker: String,
    },
    /// A resource that every plan needs is used up by background traffic.
    #[error("job {job}: nothing is left of {resource}; lower its background traffic or raise its capacity")]
    Exhausted {
        /// The job.
        job: String,
        /// The resource.
        resource: String,
    },
    /// Planned in turn, the jobs before this one leave it nothing of something it needs.
    #[error("job {job}: the jobs before it leave {left_out}; plan it before them, or all together")]
    TakenBefore {
        /// The job.
        job: String,
        /// What is missing, in words.
        left_out: String,
    },
    /// The scheme has no way to plan several jobs together.
    #[error("the scheme {scheme} plans one job; use optimized, or plan the jobs in turn")]
    OneJob {
        /// The scheme.
        scheme: &'static str,
    },
    /// Two levels asked of several jobs together.
    #[error("jobs planned together have one level; plan them in turn, or with one level")]
    OneLevel,
    /// A running plan to start several jobs from.
    #[error("a running plan is of one job, and there are several; start one job from it")]
    OneRunning,
    /// The running plan shares resources with other jobs, whose plans are not known here.
    #[error("job {job}: its running plan was made together with other jobs; plan all of them again")]
    Beside {
        /// The job.
        job: String,
    },
    /// The network is too large for `exact`.
    #[error(
        "job {job}: too large for the scheme optimal; use optimized, which states how far it can be from the best"
    )]
    TooLarge {
        /// The job.
        job: String,
    },
    /// The plan to start from is not one of this job on this network.
    #[error(
        "job {job}: the running plan is for {what}; start from a plan of this job on this topology, or from none"
    )]
    Foreign {
        /// The job to plan.
        job: String,
        /// What the running plan is for.
        what: String,
    },
    /// The shares to keep are those of other servers.
    #[error(
        "job {job}: the running plan's shares cannot be kept: {what}; plan with free shares, or start from a plan of the \
         same servers"
    )]
    Shares {
        /// The job to plan.
        job: String,
        /// What differs.
        what: String,
    },
    /// Two levels asked of a scheme that has one, or together with a running plan.
    #[error(
        "scheme {scheme}: two levels need a scheme that has them, such as the scheme optimized, and no running \
         plan to start from"
    )]
    Levels {
        /// The scheme.
        scheme: &'static str,
    },
    /// The routes that a scheme has drafted are no plan.
    #[error("job {job}: the routes of scheme {scheme} are not a plan: {problem}")]
    Draft {
        /// The job.
        job: String,
        /// The scheme.
        scheme: &'static str,
        /// What is wrong with them.
        problem: String,
    },
    /// The solver of the linear program failed, and the scheme has no other way to a plan.
    #[error(
        "job {job}: the solver of the linear program failed ({reason}); plan with the scheme optimized, which needs none"
    )]
    Solver {
        /// The job.
        job: String,
        /// What it said.
        reason: String,
    },
}
