//! Requests for membership views of hosts of elastic jobs.

use inart_wire::{Incarnation, PlanVersion};

use crate::client::{Client, ClientError};
use crate::proto::{self, join_response};
use crate::source::{Source, SourceError, patiently};
use crate::view_membership::ViewMembership;

/// Request of a host for a membership view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joining {
    /// Name of the host in the topology, or its position among the job's hosts there (worker-3, server-0).
    pub host: String,
    /// Incarnation of the process; not 0.
    pub incarnation: Incarnation,
    /// Last view of the host, if any.
    pub last: Option<PlanVersion>,
    /// Stop point at which the host left that view, if all workers had agreed on it.
    pub stop_point: Option<u32>,
    /// Rounds in the state of a worker; 0 for a server.
    pub rounds: u64,
    /// Whether a worker must load the state of another one.
    pub must_load_state: bool,
}

/// Answer of the controller to a join request.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Membership in a view that has begun.
    Admitted(ViewMembership),
    /// Request to join again at once, with what the job waits for, in words.
    Waiting(String),
}

impl Client {
    /// Requests a view of an elastic job; an empty `job` selects the only one. The answer takes up to a
    /// second.
    ///
    /// # Errors
    /// If the connection is lost, or the host cannot take part.
    pub async fn join(&self, job: &str, joining: &Joining) -> Result<Answer, ClientError> {
        let request = proto::JoinRequest {
            job: job.to_owned(),
            host: joining.host.clone(),
            incarnation: joining.incarnation.get(),
            last_view: joining.last.map(|view| view.get().into()),
            stop_point: joining.stop_point,
            rounds: joining.rounds,
            must_load_state: joining.must_load_state,
        };
        let answer = self.service.clone().join(request).await.map_err(|status| self.error(status))?;
        match answer.into_inner().answer {
            Some(join_response::Answer::Membership(membership)) => {
                let malformed = |message| ClientError::Refused { address: self.address.clone(), message };
                ViewMembership::try_from(membership).map(Answer::Admitted).map_err(malformed)
            }
            Some(join_response::Answer::Waiting(why)) => Ok(Answer::Waiting(why)),
            None => Ok(Answer::Waiting(String::new())),
        }
    }

    /// Reports that a host leaves an elastic job: `done` with all its rounds, or early.
    ///
    /// # Errors
    /// If the connection is lost, or the job has no such host.
    pub async fn leave(
        &self,
        job: &str,
        host: &str,
        incarnation: Incarnation,
        rounds: u64,
        done: bool,
    ) -> Result<(), ClientError> {
        let (job, host, incarnation) = (job.to_owned(), host.to_owned(), incarnation.get());
        let request = proto::LeaveRequest { job, host, incarnation, rounds, done };
        self.service.clone().leave(request).await.map_err(|status| self.error(status))?;
        Ok(())
    }

    /// Returns whether a job is elastic; an empty `job` selects the only one.
    ///
    /// # Errors
    /// If the connection is lost, or there is no such job.
    pub async fn is_elastic(&self, job: &str) -> Result<bool, ClientError> {
        let request = proto::GetAssignmentRequest { job: job.to_owned() };
        let answer = self.service.clone().get_assignment(request).await;
        Ok(answer.map_err(|status| self.error(status))?.into_inner().elastic)
    }
}

impl Source {
    /// Returns whether the job is elastic; its hosts [join](Self::join). A job with an assignment file is
    /// not. Waits for a controller that is unreachable or not ready, for up to
    /// [`PATIENCE`](Self::PATIENCE).
    ///
    /// # Errors
    /// If the controller does not have the job.
    pub async fn is_elastic(&self) -> Result<bool, SourceError> {
        let Self::Controller { address, job, security } = self else { return Ok(false) };
        let ask = async |controller: Client| controller.is_elastic(job).await;
        Ok(patiently(address, security, ask).await?)
    }

    /// Requests a view once; returns `None` for an assignment file, which has no views. Waits for a
    /// controller that is unreachable or not ready, for up to [`PATIENCE`](Self::PATIENCE).
    ///
    /// # Errors
    /// If the host cannot take part.
    pub async fn join(&self, joining: &Joining) -> Result<Option<Answer>, SourceError> {
        let Self::Controller { address, job, security } = self else { return Ok(None) };
        let ask = async |controller: Client| controller.join(job, joining).await;
        Ok(Some(patiently(address, security, ask).await?))
    }

    /// Reports that the host leaves the job. An unreachable controller is not waited for.
    ///
    /// # Errors
    /// The controller's error.
    pub async fn leave(
        &self,
        host: &str,
        incarnation: Incarnation,
        rounds: u64,
        done: bool,
    ) -> Result<(), SourceError> {
        let Self::Controller { address, job, security } = self else { return Ok(()) };
        Ok(Client::connect(address, security).await?.leave(job, host, incarnation, rounds, done).await?)
    }
}
