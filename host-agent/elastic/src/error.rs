//! Why a host of an elastic job does not go on.

use std::time::Duration;

use inart_controller_api::SourceError;
use inart_protocol_aggregation::{Assignment, Failure};
use inart_wire::{AbortReason, Rank};

use crate::layout::Layout;

/// Why a host of an elastic job does not go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The workers are others, or one of them lacks a round: the tensor was not summed, and another view has
    /// begun. [`load`](crate::ElasticWorker::load) the newest state, and go on with its next round.
    #[error(
        "the job resumes in run {view} with {workers} workers ({why}): load the newest state and continue"
    )]
    Membership {
        /// The view's number.
        view: u16,
        /// How many workers it has.
        workers: usize,
        /// How this worker left the view before.
        why: Left,
    },
    /// The controller does not answer, or refuses.
    #[error(transparent)]
    Control(#[from] SourceError),
    /// Nobody can be joined.
    #[error(
        "an elastic job's hosts meet at its controller: give its address instead of an assignment's file"
    )]
    NoController,
    /// The host's agent cannot go on.
    #[error(transparent)]
    Host(#[from] inart_host_agent::Error),
    /// A worker's name was given for a server, or the other way round.
    #[error(
        "{host} is {is} in this job, and was started as a {wanted}: start a {wanted} with the name of one"
    )]
    OtherRole {
        /// The host.
        host: String,
        /// What it was given.
        is: String,
        /// What it is by its command.
        wanted: &'static str,
    },
    /// This host was told to stop.
    #[error("this host was stopped")]
    Stopped,
    /// The program ended a call before its sum was there. This worker has left its view, and may go on in the
    /// next one.
    #[error("the call was interrupted: load the newest state and continue")]
    Interrupted,
    /// The controller does not answer in time.
    #[error("no message from the controller for {} s ({awaited}): restart it", patience.as_secs_f64())]
    ControllerSilent {
        /// What the host waited for.
        awaited: &'static str,
        /// How long the host waited.
        patience: Duration,
    },
    /// The newest state consists of other values than this worker's. This worker has left its view, and the
    /// others go on.
    #[error(
        "the newest state, that of worker {worker}, {}: load the same arrays in the same order at all workers",
        own.difference(*newest)
    )]
    OtherState {
        /// The worker with the newest state.
        worker: String,
        /// Layout of this worker's state.
        own: Layout,
        /// Layout of the newest state.
        newest: Layout,
    },
    /// The system gives no thread or runtime.
    #[error("a thread or runtime for the controller's messages: {0}")]
    System(#[from] std::io::Error),
}

impl Error {
    /// Whether the job goes on with other workers or another state.
    pub fn is_membership(&self) -> bool {
        matches!(self, Self::Membership { .. })
    }
}

/// How a host left its view.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Left {
    /// Before that tensor, as all workers did.
    #[error("the view ended before tensor {0}, as all agreed")]
    Boundary(u32),
    /// In the middle, as the controller said.
    #[error("the controller ended the view")]
    Told,
    /// It was aborted.
    #[error("{0}")]
    Aborted(String),
}

impl Left {
    /// How a worker leaves its view because of a failure; `None` if its program has to know, since in the
    /// next run it would be the same.
    pub fn because_of(failure: &Failure, own: Rank) -> Option<Self> {
        match failure {
            Failure::NotFinite { .. }
            | Failure::Elsewhere { .. }
            | Failure::OtherTensors { .. }
            | Failure::Aborted { reason: AbortReason::Mismatch { .. } | AbortReason::OtherNumbers, .. } => {
                None
            }
            Failure::Aborted { culprit, reason: AbortReason::Stopped | AbortReason::NotFinite, .. }
                if *culprit == own =>
            {
                None
            }
            _ => Some(Self::Aborted(failure.to_string())),
        }
    }
}

/// What becomes of a worker whose agent has failed: it leaves the view, or its program has to know.
pub(crate) fn left(
    error: inart_host_agent::Error,
    own: Rank,
    assignment: &Assignment,
) -> Result<Left, Error> {
    let inart_host_agent::Error::Failure(failure) = &error else { return Err(Error::Host(error)) };
    match (Left::because_of(failure, own), failure) {
        (Some(left), _) => {
            tracing::warn!(job = assignment.name, "the view is over: {failure}");
            Ok(left)
        }
        (None, Failure::Aborted { reason: AbortReason::Stopped, .. }) => Err(Error::Stopped),
        (None, _) => Err(Error::Host(error)),
    }
}
