//! Why a run cannot be made as asked for.

use inart_controller::{InstallError, RecordsError};
use inart_planner_aggregation::PlanError;
use inart_protocol_aggregation::{AssignmentError, RerouteError};

/// Why a run cannot be made as asked for, in one line.
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
        /// What is wrong with it, and the fix.
        problem: String,
    },
    /// A plan for a job that is not there.
    #[error("the plan is for job {job}, which topology {topology} does not have: plan again")]
    NoJob {
        /// The job.
        job: String,
        /// The topology.
        topology: String,
    },
    /// A host without an interface.
    #[error("host {host} has no link: connect it to a switch, or leave it out")]
    NoLink {
        /// The host.
        host: String,
    },
    /// No plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The plan cannot be installed.
    #[error(transparent)]
    Install(Box<InstallError>),
    /// The switch cannot run the compiled program.
    #[error("the compiled program: {0}")]
    Program(String),
    /// More workers than there are ranks.
    #[error("a run has more workers than there are ranks")]
    Ranks,
    /// The daemon's records contradict each other.
    #[error(transparent)]
    Records(#[from] RecordsError),
    /// A switch refuses what the controller wrote.
    #[error("switch {switch}: {reason}")]
    Switch {
        /// The switch.
        switch: String,
        /// What it says.
        reason: String,
    },
    /// The hosts refuse what the controller told them.
    #[error(transparent)]
    Assignment(#[from] AssignmentError),
    /// The hosts refuse to move.
    #[error(transparent)]
    Reroute(#[from] RerouteError),
}

impl From<InstallError> for Error {
    fn from(error: InstallError) -> Self {
        Self::Install(Box::new(error))
    }
}
