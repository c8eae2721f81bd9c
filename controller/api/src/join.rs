//! Hosts of elastic jobs that ask for a view.

use inart_wire::{Incarnation, PlanVersion};

use crate::client::{Client, ClientError};
use crate::proto::{self, join_response};
use crate::source::{Source, SourceError, patiently};
use crate::view_membership::ViewMembership;

/// What a host says that asks for a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joining {
    /// Its name in the topology, or its place in the topology's list of the job's hosts (worker-3, server-0).
    pub host: String,
    /// Its life: another one for each process; not 0.
    pub incarnation: Incarnation,
    /// The view that it was in last, if any.
    pub last: Option<PlanVersion>,
    /// The tensor before which it left that view, if all had agreed on it.
    pub stop_point: Option<u32>,
    /// Of a worker, the rounds in the state that it holds.
    pub rounds: u64,
    /// Of a worker, whether it has to load the state of another one.
    pub must_load_state: bool,
}

/// The answer to a host that asks.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Its view has begun.
    Seated(ViewMembership),
    /// It is to ask again at once; what is waited for, in words.
    Waiting(String),
}

impl Client {
    /// Asks for a view of an elastic job; of the only job, if `job` is empty. The answer takes up to a
    /// second.
    ///
    /// # Errors
    /// No connection any more, or why the host cannot take part.
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
                ViewMembership::try_from(membership).map(Answer::Seated).map_err(malformed)
            }
            Some(join_response::Answer::Waiting(why)) => Ok(Answer::Waiting(why)),
            None => Ok(Answer::Waiting(String::new())),
        }
    }

    /// Says that a host of an elastic job takes part no more: it is `done` with all its rounds, or ends
    /// before that.
    ///
    /// # Errors
    /// No connection any more, or no such host.
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

    /// Whether a job's hosts may come and go; the only job's, if `job` is empty.
    ///
    /// # Errors
    /// No connection any more, or no such job.
    pub async fn is_elastic(&self, job: &str) -> Result<bool, ClientError> {
        let request = proto::GetAssignmentRequest { job: job.to_owned() };
        let answer = self.service.clone().get_assignment(request).await;
        Ok(answer.map_err(|status| self.error(status))?.into_inner().elastic)
    }
}

impl Source {
    /// Whether the job's hosts may come and go: then they [join](Self::join). A job whose assignment is from
    /// a file is not elastic. A controller that is not there or not ready is [waited for](Self::PATIENCE).
    ///
    /// # Errors
    /// A controller that does not have the job.
    pub async fn is_elastic(&self) -> Result<bool, SourceError> {
        let Self::Controller { address, job, security } = self else { return Ok(false) };
        let ask = async |controller: Client| controller.is_elastic(job).await;
        Ok(patiently(address, security, ask).await?)
    }

    /// Asks for a view once; `None` of a file, which has none. A controller that is not there or not ready is
    /// [waited for](Self::PATIENCE).
    ///
    /// # Errors
    /// Why the host cannot take part.
    pub async fn join(&self, joining: &Joining) -> Result<Option<Answer>, SourceError> {
        let Self::Controller { address, job, security } = self else { return Ok(None) };
        let ask = async |controller: Client| controller.join(job, joining).await;
        Ok(Some(patiently(address, security, ask).await?))
    }

    /// Says that the host takes part no more. A controller that is not there hears nothing.
    ///
    /// # Errors
    /// What the controller says.
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
