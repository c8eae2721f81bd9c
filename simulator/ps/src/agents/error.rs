//! Why a run of agents has no result.

use inart_protocol_ps::{GroupError, SyncModelError};
use inart_world::Stuck;

/// What is wrong.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AgentError {
    /// Participants of another kind.
    #[error("job {job} has {has}, and {sync} is for {wanted}: name them `{wanted}` in the document")]
    Kind {
        /// The job.
        job: String,
        /// Its participants.
        has: &'static str,
        /// The order.
        sync: &'static str,
        /// Whom the order is for.
        wanted: &'static str,
    },
    /// A number that is too small.
    #[error("{what} {given}: give at least {least}")]
    Few {
        /// Of what.
        what: &'static str,
        /// How many were given.
        given: u32,
        /// The least.
        least: u32,
    },
    /// More processes than have numbers.
    #[error("job {job} has {participants} participants; at most {most} run as processes")]
    Many {
        /// The job.
        job: String,
        /// How many it has.
        participants: usize,
        /// How many can run.
        most: usize,
    },
    /// A fault that is not simulated.
    #[error("{what}: {why}; {fix}")]
    Fault {
        /// The step of the schedule.
        what: String,
        /// Why not.
        why: &'static str,
        /// Correction.
        fix: &'static str,
    },
    /// A policy's numbers are wrong.
    #[error(transparent)]
    SyncModel(#[from] SyncModelError),
    /// Groups are wrong.
    #[error(transparent)]
    Groups(#[from] GroupError),
    /// The oracle has found a difference.
    #[error("{who}: {what}; this is a defect")]
    Wrong {
        /// Whose update or model.
        who: String,
        /// Problem.
        what: String,
    },
    /// A run that does not end.
    #[error("the training does not end: {0}; {1}")]
    Stuck(Stuck, String),
}

impl From<Stuck> for AgentError {
    fn from(stuck: Stuck) -> Self {
        AgentError::Stuck(stuck, String::new())
    }
}
