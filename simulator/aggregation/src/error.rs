//! Errors of runs that cannot be made.

use inart_controller::{InstallError, RecordsError};
use inart_planner_aggregation::PlanError;
use inart_protocol_aggregation::{AssignmentError, RerouteError};

/// Reason why a run cannot be made, in one line.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The faults make no sense on this network.
    #[error(transparent)]
    Faults(#[from] inart_topologies::faults::Error),
    /// An option out of range.
    #[error("{option}: {problem}")]
    Option {
        /// The setting, by its name in [`Options`](crate::Options).
        option: &'static str,
        /// Problem and fix.
        problem: String,
    },
    /// A plan for a job that is not there.
    #[error("the plan is for job {job}, which topology {topology} does not have: plan again")]
    NoJob {
        /// Job.
        job: String,
        /// Topology.
        topology: String,
    },
    /// A host without an interface.
    #[error("host {host} has no link: connect it to a switch, or leave it out")]
    NoLink {
        /// Host.
        host: String,
    },
    /// Missing plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The plan cannot be installed.
    #[error(transparent)]
    Install(Box<InstallError>),
    /// The switch cannot run the compiled program.
    #[error("the compiled program: {0}")]
    Program(String),
    /// More workers than ranks.
    #[error("a run has more workers than there are ranks")]
    Ranks,
    /// Contradictory records of the daemon.
    #[error(transparent)]
    Records(#[from] RecordsError),
    /// Refusal by a switch of the controller's writes.
    #[error("switch {switch}: {reason}")]
    Switch {
        /// Switch.
        switch: String,
        /// Error of the switch.
        reason: String,
    },
    /// Refusal by the hosts of the controller's assignment.
    #[error(transparent)]
    Assignment(#[from] AssignmentError),
    /// Refusal by the hosts to migrate.
    #[error(transparent)]
    Reroute(#[from] RerouteError),
}

impl From<InstallError> for Error {
    fn from(error: InstallError) -> Self {
        Self::Install(Box::new(error))
    }
}
