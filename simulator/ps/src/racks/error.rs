//! Errors that end a run of groups.

use inart_planner_ps::RackError;
use inart_protocol_ps::TurnError;

use crate::ideal::RunError;

/// Error that ends a run of groups.
#[derive(Debug, thiserror::Error)]
pub enum RackRunError {
    /// Invalid run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Invalid turns of user-defined groups.
    #[error(transparent)]
    Turns(#[from] TurnError),
    /// Groups that the job cannot have.
    #[error(transparent)]
    Groups(#[from] RackError),
}
