//! Asking a controller.

use std::error::Error as _;
use std::time::Duration;

use inart_protocol_aggregation::Assignment;
use inart_tls::{ChannelError, Security, TlsFailure, connect_with_pings, disagreement, innermost};
use inart_wire::{Incarnation, JobId, PlanVersion};
use tonic::transport::Channel;
use tonic::{Code, Status};

use crate::instruction::{Held, Instruction};
use crate::proto::{self, controller_client::ControllerClient};

/// How long a controller may take to answer.
const TIMEOUT: Duration = Duration::from_secs(5);

/// A connection to a controller.
#[derive(Debug, Clone)]
pub struct Client {
    pub(crate) address: String,
    pub(crate) service: ControllerClient<Channel>,
}

/// Why a controller did not answer as asked.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ClientError {
    /// It cannot be reached.
    #[error("the controller: {0}; start `inart controller` or correct the address")]
    Connect(ChannelError),
    /// A server answers at the address, and the two sides do not agree on TLS.
    #[error("the controller: {0}")]
    Tls(ChannelError),
    /// It has not installed the plans yet.
    #[error("the controller at {address} has not installed the plans yet: {message}")]
    NotYet {
        /// Its address.
        address: String,
        /// What it said.
        message: String,
    },
    /// The connection ended before it answered.
    #[error(
        "the connection to the controller at {address} ended ({message}); is a controller running there?"
    )]
    Ended {
        /// Its address.
        address: String,
        /// The transport's error.
        message: String,
    },
    /// It refused.
    #[error("the controller at {address}: {message}")]
    Refused {
        /// Its address.
        address: String,
        /// What it said.
        message: String,
    },
}

impl From<ChannelError> for ClientError {
    fn from(error: ChannelError) -> Self {
        match error {
            ChannelError::Tls { .. } => Self::Tls(error),
            ChannelError::Endpoint(_) | ChannelError::Connect { .. } => Self::Connect(error),
        }
    }
}

impl Client {
    /// Connects to `host:port` or `unix:/path`.
    ///
    /// # Errors
    /// No connection, or one that the other side does not accept.
    pub async fn connect(address: &str, security: &Security) -> Result<Self, ClientError> {
        let channel = connect_with_pings(address, security, TIMEOUT).await?;
        let address = address.to_owned();
        // Plain HTTP/2 waits for nothing when it connects.
        if matches!(security, Security::Local | Security::Plain)
            && let Some(failure) = disagreement(&address, security).await
        {
            return Err(ClientError::Tls(ChannelError::Tls { address, failure }));
        }
        Ok(Self { address, service: ControllerClient::new(channel) })
    }

    /// What the hosts of a job are told; of the only job, if `job` is empty.
    ///
    /// # Errors
    /// No connection any more, or no such job.
    pub async fn assignment(&self, job: &str) -> Result<Assignment, ClientError> {
        let request = proto::GetAssignmentRequest { job: job.to_owned() };
        let answer = self.service.clone().get_assignment(request).await;
        Assignment::try_from(answer.map_err(|status| self.error(status))?.into_inner())
            .map_err(|message| ClientError::Refused { address: self.address.clone(), message })
    }

    /// Notes that a host, in that `incarnation`, runs in `role` (such as worker-3); refused if another did
    /// under this plan version.
    ///
    /// # Errors
    /// No connection any more, or a role that another incarnation has.
    pub async fn register_host(
        &self,
        job: JobId,
        plan_version: PlanVersion,
        role: &str,
        incarnation: Incarnation,
    ) -> Result<(), ClientError> {
        let (job, plan_version) = (job.get().into(), plan_version.get().into());
        let request = proto::RegisterHostRequest {
            job,
            plan_version,
            role: role.to_owned(),
            incarnation: incarnation.get(),
        };
        self.service.clone().register_host(request).await.map_err(|status| self.error(status))?;
        Ok(())
    }

    /// What the host in `role` is to do, that `incarnation` of it: the present instruction and all later
    /// ones.
    ///
    /// # Errors
    /// No connection any more, or a role that was not granted to it.
    pub async fn watch_instructions(
        &self,
        job: JobId,
        role: &str,
        incarnation: Incarnation,
    ) -> Result<Instructions, ClientError> {
        let (job, role) = (job.get().into(), role.to_owned());
        let request = proto::WatchInstructionsRequest { job, role, incarnation: incarnation.get() };
        let answer = self.service.clone().watch_instructions(request).await;
        Ok(Instructions {
            client: self.clone(),
            stream: answer.map_err(|status| self.error(status))?.into_inner(),
        })
    }

    /// Says that the host in `role` does as `instruction` says, and how far it is, or why it does not.
    ///
    /// # Errors
    /// No connection any more, or a role that was not granted to it.
    pub async fn ack_instruction(
        &self,
        role: &str,
        incarnation: Incarnation,
        instruction: &Instruction,
        outcome: Result<Held, String>,
    ) -> Result<(), ClientError> {
        let held = outcome.as_ref().copied().unwrap_or_default();
        let request = proto::AckInstructionRequest {
            job: instruction.assignment.job.get().into(),
            role: role.to_owned(),
            incarnation: incarnation.get(),
            plan_version: instruction.assignment.plan_version.get().into(),
            previous_plan_version: instruction
                .previous_plan_version
                .map(|plan_version| plan_version.get().into()),
            refusal: outcome.err().unwrap_or_default(),
            ending: Some(instruction.ending.into()),
            started: held.started,
            is_holding: held.is_holding,
            step: proto::MigrationStep::from(instruction.step).into(),
            is_lagging: held.moving.is_lagging,
            results: held.moving.results,
        };
        self.service.clone().ack_instruction(request).await.map_err(|status| self.error(status))?;
        Ok(())
    }

    /// Moves a job that runs to another plan, a JSON document; the number of the change, whose
    /// [status](Self::status) tells how it goes.
    ///
    /// # Errors
    /// No connection any more, or a controller that is not ready.
    pub async fn update_plan(&self, plan: String) -> Result<u32, ClientError> {
        let answer = self.service.clone().update_plan(proto::UpdatePlanRequest { plan }).await;
        Ok(answer.map_err(|status| self.error(status))?.into_inner().number)
    }

    /// Has a job planned and installed beside those that run; the number by which the
    /// [status](Self::status) tells how it goes. `topology` is the controller's network with one job more, as
    /// a document; the job sends `window_chunks` ahead, or as many as the others.
    ///
    /// # Errors
    /// No connection any more, another network, or a job that runs already.
    pub async fn create_job(
        &self,
        topology: String,
        job: &str,
        window_chunks: Option<u32>,
    ) -> Result<u32, ClientError> {
        let (job, window_chunks) = (job.to_owned(), window_chunks.unwrap_or(0));
        let request = proto::CreateJobRequest { topology, job, window_chunks };
        let answer = self.service.clone().create_job(request).await;
        Ok(answer.map_err(|status| self.error(status))?.into_inner().number)
    }

    /// Has a job taken off the switches, even if its hosts run, if `force`; the number by which the
    /// [status](Self::status) tells how it goes.
    ///
    /// # Errors
    /// No connection any more, or no such job.
    pub async fn delete_job(&self, job: &str, force: bool) -> Result<u32, ClientError> {
        let request = proto::DeleteJobRequest { job: job.to_owned(), force };
        let answer = self.service.clone().delete_job(request).await;
        Ok(answer.map_err(|status| self.error(status))?.into_inner().number)
    }

    /// Ends the run of an elastic job at a boundary, until the job is [resumed](Self::resume_job).
    ///
    /// # Errors
    /// No connection any more, or no such elastic job.
    pub async fn pause_job(&self, job: &str) -> Result<(), ClientError> {
        let request = proto::PauseJobRequest { job: job.to_owned() };
        self.service.clone().pause_job(request).await.map_err(|status| self.error(status))?;
        Ok(())
    }

    /// Lets the runs of a job begin again.
    ///
    /// # Errors
    /// No connection any more, or no such elastic job.
    pub async fn resume_job(&self, job: &str) -> Result<(), ClientError> {
        let request = proto::ResumeJobRequest { job: job.to_owned() };
        self.service.clone().resume_job(request).await.map_err(|status| self.error(status))?;
        Ok(())
    }

    /// How the controller and its switches are.
    ///
    /// # Errors
    /// No connection any more.
    pub async fn status(&self) -> Result<proto::Status, ClientError> {
        let answer = self.service.clone().get_status(proto::GetStatusRequest {}).await;
        Ok(answer.map_err(|status| self.error(status))?.into_inner())
    }

    /// What the controller has decided, oldest first.
    ///
    /// # Errors
    /// No connection any more.
    pub async fn list_decisions(&self) -> Result<Vec<proto::Decision>, ClientError> {
        let answer = self.service.clone().list_decisions(proto::ListDecisionsRequest {}).await;
        Ok(answer.map_err(|status| self.error(status))?.into_inner().decisions)
    }

    /// Has the controller decide at once; with `shares`, on shares too. What it decided, and what came of it.
    ///
    /// # Errors
    /// No connection any more, or a controller that does not watch its network.
    pub async fn replan(&self, shares: bool) -> Result<proto::Decision, ClientError> {
        let answer = self.service.clone().replan(proto::ReplanRequest { shares }).await;
        let answer = answer.map_err(|status| self.error(status))?.into_inner();
        Ok(answer.decision.unwrap_or_default())
    }

    /// Says how a host is.
    ///
    /// # Errors
    /// No connection any more, or a role that was not granted to it.
    pub async fn report_metrics(&self, report: proto::ReportMetricsRequest) -> Result<(), ClientError> {
        self.service.clone().report_metrics(report).await.map_err(|status| self.error(status))?;
        Ok(())
    }

    pub(crate) fn error(&self, status: Status) -> ClientError {
        let address = self.address.clone();
        if status.source().is_some() {
            // The transport speaks. Over TLS a client believes to be connected before the server has looked
            // at its certificate; anything else is a controller that is going away or coming back.
            return match TlsFailure::of(&status) {
                Some(failure @ TlsFailure::ClientRefused { .. }) => {
                    ClientError::Tls(ChannelError::Tls { address, failure })
                }
                _ => ClientError::Ended { address, message: innermost(&status) },
            };
        }
        let message = status.message().to_owned();
        match status.code() {
            Code::Unavailable => ClientError::NotYet { address, message },
            _ => ClientError::Refused { address, message },
        }
    }
}

/// Instructions as they come.
pub struct Instructions {
    client: Client,
    stream: tonic::Streaming<proto::Instruction>,
}

impl Instructions {
    /// The next one; `None` when the controller has ended in order.
    ///
    /// # Errors
    /// No connection any more, or what is no instruction.
    pub async fn next(&mut self) -> Result<Option<Instruction>, ClientError> {
        let Some(message) = self.stream.message().await.map_err(|status| self.client.error(status))? else {
            return Ok(None);
        };
        let malformed = |message| ClientError::Refused { address: self.client.address.clone(), message };
        Instruction::try_from(message).map(Some).map_err(malformed)
    }
}
