//! Errors that end a run of agents.

use inart_protocol_ps::{GroupError, SyncModelError};
use inart_world::Stuck;

/// Error that ends a run of agents.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AgentError {
    /// Participants of another kind.
    #[error("job {job} has {has}, and {sync} is for {wanted}: name them `{wanted}` in the document")]
    Kind {
        /// The job.
        job: String,
        /// Kind of the job's participants.
        has: &'static str,
        /// Name of the synchronization.
        sync: &'static str,
        /// Kind of participants that the synchronization needs.
        wanted: &'static str,
    },
    /// Number that is too small.
    #[error("{what} {given}: give at least {least}")]
    Few {
        /// Setting.
        what: &'static str,
        /// Given number.
        given: u32,
        /// Least number.
        least: u32,
    },
    /// More participants than process numbers.
    #[error("job {job} has {participants} participants; at most {most} run as processes")]
    Many {
        /// The job.
        job: String,
        /// Number of participants.
        participants: usize,
        /// Most participants.
        most: usize,
    },
    /// Fault that is not simulated.
    #[error("{what}: {why}; {fix}")]
    Fault {
        /// Step of the schedule.
        what: String,
        /// Reason.
        why: &'static str,
        /// Correction.
        fix: &'static str,
    },
    /// Invalid synchronization model.
    #[error(transparent)]
    SyncModel(#[from] SyncModelError),
    /// Invalid groups.
    #[error(transparent)]
    Groups(#[from] GroupError),
    /// Difference that the oracle has found.
    #[error("{who}: {what}; this is a defect")]
    Wrong {
        /// Participant of the update or model.
        who: String,
        /// Problem.
        what: String,
    },
    /// Run that does not end.
    #[error("the training does not end: {0}; {1}")]
    Stuck(Stuck, String),
}

impl From<Stuck> for AgentError {
    fn from(stuck: Stuck) -> Self {
        AgentError::Stuck(stuck, String::new())
    }
}
