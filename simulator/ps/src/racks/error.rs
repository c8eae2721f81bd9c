//! Why a run of groups has no result.

use inart_planner_ps::RackError;
use inart_protocol_ps::TurnError;

use crate::ideal::RunError;

/// What is wrong.
#[derive(Debug, thiserror::Error)]
pub enum RackRunError {
    /// The run cannot be.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Turns that cannot be: groups are made by hand.
    #[error(transparent)]
    Turns(#[from] TurnError),
    /// Groups that the job cannot have.
    #[error(transparent)]
    Groups(#[from] RackError),
}
