//! Client of a controller.

use std::error::Error as _;
use std::time::Duration;

use inart_protocol_aggregation::Assignment;
use inart_tls::{ChannelError, Security, TlsFailure, connect_with_pings, disagreement, innermost};
use inart_wire::{Incarnation, JobId, PlanVersion};
use tonic::transport::Channel;
use tonic::{Code, Status};

use crate::instruction::{HostProgress, Instruction};
use crate::proto::{self, controller_client::ControllerClient};

/// Longest time until a controller answers.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Connection to a controller.
#[derive(Debug, Clone)]
pub struct Client {
    pub(crate) address: String,
    pub(crate) service: ControllerClient<Channel>,
}

/// Error of a request to a controller.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ClientError {
    /// Unreachable controller.
    #[error("the controller: {0}; start `inart controller` or correct the address")]
    Connect(ChannelError),
    /// Server at the address with other TLS settings.
    #[error("the controller: {0}")]
    Tls(ChannelError),
    /// Plans not installed yet.
    #[error("the controller at {address} has not installed the plans yet: {message}")]
    NotYet {
        /// Address of the controller.
        address: String,
        /// Message of the controller.
        message: String,
    },
    /// Connection that ended before the answer.
    #[error(
        "the connection to the controller at {address} ended ({message}); is a controller running there?"
    )]
    Ended {
        /// Address of the controller.
        address: String,
        /// Error of the transport.
        message: String,
    },
    /// Refused request.
    #[error("the controller at {address}: {message}")]
    Refused {
        /// Address of the controller.
        address: String,
        /// Message of the controller.
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
    /// If no connection is possible, or the other side does not accept it.
    pub async fn connect(address: &str, security: &Security) -> Result<Self, ClientError> {
        let channel = connect_with_pings(address, security, TIMEOUT).await?;
        let address = address.to_owned();
        // Plain HTTP/2 does not wait for the server when it connects.
        if matches!(security, Security::Local | Security::Plain)
            && let Some(failure) = disagreement(&address, security).await
        {
            return Err(ClientError::Tls(ChannelError::Tls { address, failure }));
        }
        Ok(Self { address, service: ControllerClient::new(channel) })
    }

    /// Returns the assignment of a job; an empty `job` selects the only one.
    ///
    /// # Errors
    /// If the connection is lost, or there is no such job.
    pub async fn assignment(&self, job: &str) -> Result<Assignment, ClientError> {
        let request = proto::GetAssignmentRequest { job: job.to_owned() };
        let answer = self.service.clone().get_assignment(request).await;
        Assignment::try_from(answer.map_err(|status| self.error(status))?.into_inner())
            .map_err(|message| ClientError::Refused { address: self.address.clone(), message })
    }

    /// Registers a host that runs in `role` (such as worker-3) in `incarnation`. The controller refuses a
    /// second host under the same plan version.
    ///
    /// # Errors
    /// If the connection is lost, or another incarnation has the role.
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

    /// Streams instructions for `incarnation` in `role`: the current one, then all later ones.
    ///
    /// # Errors
    /// If the connection is lost, or the role was not granted to that incarnation.
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

    /// Reports that the host in `role` follows `instruction` and its progress, or why it does not.
    ///
    /// # Errors
    /// If the connection is lost, or the role was not granted to that incarnation.
    pub async fn ack_instruction(
        &self,
        role: &str,
        incarnation: Incarnation,
        instruction: &Instruction,
        outcome: Result<HostProgress, String>,
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

    /// Migrates a running job to another plan, a JSON document. Returns the number of the change;
    /// [`status`](Self::status) reports its progress.
    ///
    /// # Errors
    /// If the connection is lost, or the controller is not ready.
    pub async fn update_plan(&self, plan: String) -> Result<u32, ClientError> {
        let answer = self.service.clone().update_plan(proto::UpdatePlanRequest { plan }).await;
        Ok(answer.map_err(|status| self.error(status))?.into_inner().number)
    }

    /// Plans one more job next to the running ones and installs it. Returns the number of the change;
    /// [`status`](Self::status) reports its progress. `topology` is a document: the controller's network
    /// with one job more. The job has `window_chunks` chunks in flight, or as many as the others.
    ///
    /// # Errors
    /// If the connection is lost, the network is another one, or the job runs already.
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

    /// Removes a job from the switches, with `force` even while its hosts run. Returns the number of the
    /// change; [`status`](Self::status) reports its progress.
    ///
    /// # Errors
    /// If the connection is lost, or there is no such job.
    pub async fn delete_job(&self, job: &str, force: bool) -> Result<u32, ClientError> {
        let request = proto::DeleteJobRequest { job: job.to_owned(), force };
        let answer = self.service.clone().delete_job(request).await;
        Ok(answer.map_err(|status| self.error(status))?.into_inner().number)
    }

    /// Ends the view of an elastic job at a stop point, until the job is [resumed](Self::resume_job).
    ///
    /// # Errors
    /// If the connection is lost, or there is no such elastic job.
    pub async fn pause_job(&self, job: &str) -> Result<(), ClientError> {
        let request = proto::PauseJobRequest { job: job.to_owned() };
        self.service.clone().pause_job(request).await.map_err(|status| self.error(status))?;
        Ok(())
    }

    /// Lets views of a paused job start again.
    ///
    /// # Errors
    /// If the connection is lost, or there is no such elastic job.
    pub async fn resume_job(&self, job: &str) -> Result<(), ClientError> {
        let request = proto::ResumeJobRequest { job: job.to_owned() };
        self.service.clone().resume_job(request).await.map_err(|status| self.error(status))?;
        Ok(())
    }

    /// Returns the state of the controller, its jobs and its switches.
    ///
    /// # Errors
    /// If the connection is lost.
    pub async fn status(&self) -> Result<proto::Status, ClientError> {
        let answer = self.service.clone().get_status(proto::GetStatusRequest {}).await;
        Ok(answer.map_err(|status| self.error(status))?.into_inner())
    }

    /// Returns the controller's decisions, oldest first.
    ///
    /// # Errors
    /// If the connection is lost.
    pub async fn list_decisions(&self) -> Result<Vec<proto::Decision>, ClientError> {
        let answer = self.service.clone().list_decisions(proto::ListDecisionsRequest {}).await;
        Ok(answer.map_err(|status| self.error(status))?.into_inner().decisions)
    }

    /// Requests a decision at once; with `shares`, on shares too. Returns the decision and its outcome.
    ///
    /// # Errors
    /// If the connection is lost, or the controller does not watch its network.
    pub async fn replan(&self, shares: bool) -> Result<proto::Decision, ClientError> {
        let answer = self.service.clone().replan(proto::ReplanRequest { shares }).await;
        let answer = answer.map_err(|status| self.error(status))?.into_inner();
        Ok(answer.decision.unwrap_or_default())
    }

    /// Reports the counters of a host.
    ///
    /// # Errors
    /// If the connection is lost, or the role was not granted to that incarnation.
    pub async fn report_metrics(&self, report: proto::ReportMetricsRequest) -> Result<(), ClientError> {
        self.service.clone().report_metrics(report).await.map_err(|status| self.error(status))?;
        Ok(())
    }

    pub(crate) fn error(&self, status: Status) -> ClientError {
        let address = self.address.clone();
        if status.source().is_some() {
            // An error of the transport. Over TLS, a client counts as connected before the server has
            // checked its certificate; every other case is a controller that stops or restarts.
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

/// Stream of instructions.
pub struct Instructions {
    client: Client,
    stream: tonic::Streaming<proto::Instruction>,
}

impl Instructions {
    /// Waits for the next instruction; returns `None` when the controller has ended the stream in order.
    ///
    /// # Errors
    /// If the connection is lost, or the message is not an instruction.
    pub async fn next(&mut self) -> Result<Option<Instruction>, ClientError> {
        let Some(message) = self.stream.message().await.map_err(|status| self.client.error(status))? else {
            return Ok(None);
        };
        let malformed = |message| ClientError::Refused { address: self.client.address.clone(), message };
        Instruction::try_from(message).map(Some).map_err(malformed)
    }
}
