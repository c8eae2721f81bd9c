//! Errors of hosts of elastic jobs.

use std::time::Duration;

use inart_controller_api::SourceError;
use inart_protocol_aggregation::{Assignment, Failure};
use inart_wire::{AbortReason, Rank};

use crate::layout::Layout;

/// Reason why a host of an elastic job does not continue.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A change of the workers, or a worker that lacks a round: the tensor was not summed, and another view
    /// has started. [`load`](crate::ElasticWorker::load) the newest state, and continue with its next round.
    #[error(
        "the job resumes in run {view} with {workers} workers ({why}): load the newest state and continue"
    )]
    Membership {
        /// The view's number.
        view: u16,
        /// Number of workers.
        workers: usize,
        /// Reason why this worker left the previous view.
        why: LeaveReason,
    },
    /// The controller does not answer, or refuses.
    #[error(transparent)]
    Control(#[from] SourceError),
    /// A source that is not a controller.
    #[error(
        "an elastic job's hosts meet at its controller: give its address instead of an assignment's file"
    )]
    NoController,
    /// The host's agent cannot go on.
    #[error(transparent)]
    Host(#[from] inart_host_agent::Error),
    /// A worker's name given for a server, or vice versa.
    #[error(
        "{host} is {is} in this job, and was started as a {wanted}: start a {wanted} with the name of one"
    )]
    OtherRole {
        /// Host.
        host: String,
        /// Role in the job.
        is: String,
        /// Role of the command.
        wanted: &'static str,
    },
    /// A stop request to this host.
    #[error("this host was stopped")]
    Stopped,
    /// A call ended by the program before its sum was complete. This worker has left its view, and may
    /// continue in the next one.
    #[error("the call was interrupted: load the newest state and continue")]
    Interrupted,
    /// The controller does not answer in time.
    #[error("no message from the controller for {} s ({awaited}): restart it", patience.as_secs_f64())]
    ControllerSilent {
        /// Awaited event.
        awaited: &'static str,
        /// Waiting time.
        patience: Duration,
    },
    /// A newest state with another layout than this worker's. This worker has left its view, and the others
    /// continue.
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
    /// Returns whether the job continues with other workers or another state.
    pub fn is_membership(&self) -> bool {
        matches!(self, Self::Membership { .. })
    }
}

/// Reason why a host left its view.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LeaveReason {
    /// Before that tensor, as all workers did.
    #[error("the view ended before tensor {0}, as all agreed")]
    StopPoint(u32),
    /// Order of the controller, within a tensor.
    #[error("the controller ended the view")]
    Ordered,
    /// Abort of the view.
    #[error("{0}")]
    Aborted(String),
}

impl LeaveReason {
    /// Returns the reason why a worker leaves its view after a failure; `None` if its program has to handle
    /// the failure, since it would repeat in the next view.
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

/// Returns why a worker whose agent has failed leaves the view, or the error for its program.
pub(crate) fn left(
    error: inart_host_agent::Error,
    own: Rank,
    assignment: &Assignment,
) -> Result<LeaveReason, Error> {
    let inart_host_agent::Error::Failure(failure) = &error else { return Err(Error::Host(error)) };
    match (LeaveReason::because_of(failure, own), failure) {
        (Some(left), _) => {
            tracing::warn!(job = assignment.name, "the view is over: {failure}");
            Ok(left)
        }
        (None, Failure::Aborted { reason: AbortReason::Stopped, .. }) => Err(Error::Stopped),
        (None, _) => Err(Error::Host(error)),
    }
}
