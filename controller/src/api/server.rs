//! gRPC server of the controller for hosts and operators.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use inart_controller_api::Ending;
use inart_controller_api::proto::{self, controller_server, join_response};
use inart_planner_aggregation::Plan;
use inart_protocol_aggregation::Assignment;
use inart_steering::{Decision, Shares};
use inart_tls::ServerTls;
use inart_tls::accept::{self, Incoming, Limits};
use inart_topologies::MOST_NAME_BYTES;
use inart_topologies::switched::Topology;
use inart_wire::{Incarnation, JobId, PlanVersion};
use tokio::net::{TcpListener, UnixListener};
use tokio_stream::wrappers::WatchStream;
use tonic::transport::Server;
use tonic::{Request, Response, Status};

use crate::daemon::{Answer, Answered, EndingAnswer, NoInstructions, State, TooMany};
use crate::membership::{Joining, Refusal};
use crate::records::Claim;

/// Listening socket of the API.
#[derive(Debug)]
pub enum Listener {
    /// TCP port.
    Tcp(TcpListener),
    /// Unix socket.
    Unix(UnixListener),
}

/// Why the API cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Malformed address.
    #[error("\"{0}\" is not an address: write HOST:PORT with a numeric host, or unix:/path")]
    Address(String),
    /// Plain connection that other machines can reach.
    #[error(
        "{0} can be reached from other machines and the connection is plain: listen on 127.0.0.1 or unix:/path, or serve by \
         TLS, or allow plain connections"
    )]
    Exposed(SocketAddr),
    /// Error of the operating system.
    #[error("cannot listen on {address} ({cause}): choose another address")]
    System {
        /// Address.
        address: String,
        /// Cause.
        cause: io::Error,
    },
}

impl Listener {
    /// Listens on `HOST:PORT` or `unix:/path`; outside of the loopback only if `exposed` allows it.
    ///
    /// # Errors
    /// An unusable address, or one that others can reach although `exposed` forbids it.
    pub async fn bind(address: &str, exposed: bool) -> Result<Self, ListenError> {
        let system = |cause| ListenError::System { address: address.to_owned(), cause };
        if let Some(path) = address.strip_prefix("unix:") {
            let listener = inart_sockets::listen(Path::new(path)).map_err(system)?;
            listener.set_nonblocking(true).map_err(system)?;
            return UnixListener::from_std(listener).map(Listener::Unix).map_err(system);
        }
        let socket: SocketAddr = address.parse().map_err(|_| ListenError::Address(address.to_owned()))?;
        if !socket.ip().is_loopback() && !exposed {
            return Err(ListenError::Exposed(socket));
        }
        TcpListener::bind(socket).await.map(Listener::Tcp).map_err(system)
    }

    /// Returns the address that clients connect to.
    ///
    /// # Errors
    /// An unknown address of the socket.
    pub fn address(&self) -> io::Result<String> {
        match self {
            Listener::Tcp(listener) => Ok(listener.local_addr()?.to_string()),
            Listener::Unix(listener) => {
                let address = listener.local_addr()?;
                Ok(format!("unix:{}", address.as_pathname().unwrap_or(Path::new("")).display()))
            }
        }
    }
}

/// Running API.
pub type Serving<'a> = BoxFuture<'a, Result<(), tonic::transport::Error>>;

/// Serves until `stop` is ready; over TLS only, if `tls` is given.
///
/// # Errors
/// A failure to accept more connections.
pub fn serve<'a>(
    listener: Listener,
    tls: Option<ServerTls>,
    state: Arc<State>,
    stop: impl Future<Output = ()> + Send + 'a,
) -> Serving<'a> {
    boxed(listener, tls, state, stop.boxed())
}

/// Compiled with this crate, and not again with each that serves.
fn boxed<'a>(
    listener: Listener,
    tls: Option<ServerTls>,
    state: Arc<State>,
    stop: BoxFuture<'a, ()>,
) -> Serving<'a> {
    answer(listener, tls, state, stop).boxed()
}

async fn answer(
    listener: Listener,
    tls: Option<ServerTls>,
    state: Arc<State>,
    stop: BoxFuture<'_, ()>,
) -> Result<(), tonic::transport::Error> {
    let service = controller_server::ControllerServer::new(Api(state));
    let mut server =
        Server::builder().http2_keepalive_interval(Some(KEEPALIVE)).http2_keepalive_timeout(Some(KEEPALIVE));
    server = server.max_concurrent_streams(STREAMS);
    let listener = match listener {
        Listener::Tcp(listener) => accept::Listener::from(listener),
        Listener::Unix(listener) => listener.into(),
    };
    let limits = Limits { connections: CONNECTIONS, ..Limits::default() };
    let incoming = Incoming::new(listener, tls.as_ref(), limits);
    server.add_service(service).serve_with_incoming_shutdown(incoming, stop).await
}

/// Longest time until an answer to a join request; then the host asks again.
const WAIT: Duration = Duration::from_secs(1);

/// Time without an answer to a ping after which a process counts as gone; a stopped process keeps its
/// sockets.
const KEEPALIVE: Duration = Duration::from_secs(2);

/// Maximum number of connections after their handshakes: one per host, and those of operators. Together
/// with handshakes and switches they stay below the 1,024 files that many systems allow a process.
const CONNECTIONS: usize = 512;

/// Maximum number of open calls per connection: one watch for each job of a host, and some more.
const STREAMS: u32 = 256;

/// Longest text of a client, in bytes, that is kept or shown.
const LONGEST: usize = 1024;

/// Returns a client's text, cut to [`LONGEST`].
fn shown(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST)]
}

/// Refuses a name that is longer than any name of a job or host.
fn usable(what: &str, name: &str) -> Result<(), Status> {
    if name.len() <= MOST_NAME_BYTES {
        return Ok(());
    }
    let (start, bytes) = (&name[..name.floor_char_boundary(16)], name.len());
    Err(Status::invalid_argument(format!(
        "the name \"{start}...\" of a {what} has {bytes} bytes; names have up to {MOST_NAME_BYTES}"
    )))
}

fn too_many(why: TooMany) -> Status {
    Status::resource_exhausted(why.to_string())
}

/// Instruction stream of a member, for its lifetime.
struct Stream(Arc<State>, JobId, String, Incarnation);

impl Stream {
    fn open(state: Arc<State>, job: JobId, role: String, incarnation: Incarnation) -> Self {
        state.stream(job, &role, incarnation, true);
        Self(state, job, role, incarnation)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.0.stream(self.1, &self.2, self.3, false);
    }
}

fn refused(refusal: Refusal) -> Status {
    let words = refusal.to_string();
    match refusal {
        Refusal::UnknownHost { .. } => Status::not_found(words),
        Refusal::NameInUse { .. } => Status::already_exists(words),
        Refusal::Finished { .. } => Status::failed_precondition(words),
        Refusal::NoIncarnation { .. } | Refusal::Backwards { .. } => Status::invalid_argument(words),
    }
}

/// Message of calls before the plans are installed.
const NOT_INSTALLED: &str = "installing the plans";

struct Api(Arc<State>);

impl Api {
    /// Returns the number of an elastic job and the name of its host.
    fn elastic_host(&self, job: &str, host: &str) -> Result<(JobId, String), Status> {
        usable("job", job)?;
        usable("host", host)?;
        let found = self.0.elastic_host(job, host).ok_or_else(|| Status::unavailable(NOT_INSTALLED))?;
        found.map_err(Status::failed_precondition)
    }

    /// Returns an error that makes hosts retry unless this controller is in charge.
    fn in_charge(&self) -> Result<(), Status> {
        self.0.waiting().map_or(Ok(()), |why| Err(Status::unavailable(why)))
    }

    /// Runs a request that may have to wait for the records.
    async fn ask<T: Send + 'static>(
        &self,
        request: impl FnOnce(&State) -> T + Send + 'static,
    ) -> Result<T, Status> {
        let state = self.0.clone();
        let answer = tokio::task::spawn_blocking(move || request(&state)).await;
        answer.map_err(|error| Status::internal(error.to_string()))
    }
}

fn decision(decision: &Decision) -> proto::Decision {
    let json = serde_json::to_string(decision).unwrap_or_default();
    proto::Decision { line: decision.to_string(), json }
}

/// Converts a number of a job or plan version.
fn number(number: u32) -> Result<u16, Status> {
    u16::try_from(number).map_err(|_| Status::invalid_argument("job and plan version have 16 bits"))
}

fn no_instructions(role: &str, job: JobId, why: NoInstructions) -> Status {
    let role = shown(role);
    match why {
        NoInstructions::NotYet => Status::unavailable(NOT_INSTALLED),
        NoInstructions::NotGranted => Status::failed_precondition(format!(
            "{role} of job {job} was not granted to this host: it runs with the plan that it has"
        )),
    }
}

#[tonic::async_trait]
impl controller_server::Controller for Api {
    async fn get_assignment(
        &self,
        request: Request<proto::GetAssignmentRequest>,
    ) -> Result<Response<proto::Assignment>, Status> {
        let job = request.into_inner().job;
        usable("job", &job)?;
        let found = self.0.assignment(&job);
        // Checked afterwards: a controller in charge now was in charge when the answer was read.
        self.in_charge()?;
        let found = found.ok_or_else(|| Status::unavailable(NOT_INSTALLED))?;
        let assignment = found.map_err(Status::not_found)?;
        let elastic = self.0.is_elastic(assignment.job);
        Ok(Response::new(proto::Assignment { elastic, ..(&assignment).into() }))
    }

    async fn register_host(
        &self,
        request: Request<proto::RegisterHostRequest>,
    ) -> Result<Response<proto::RegisterHostResponse>, Status> {
        self.in_charge()?;
        let proto::RegisterHostRequest { job, plan_version, role, incarnation } = request.into_inner();
        let (job, plan_version) = (JobId::from(number(job)?), PlanVersion::from(number(plan_version)?));
        let (who, incarnation) = (role.clone(), Incarnation::from(incarnation));
        if self.0.is_elastic(job) {
            return Err(Status::failed_precondition(format!(
                "job {job} is elastic, and its hosts join: start {} with a version of the host that does",
                shown(&role)
            )));
        }
        if let Some(roles) = self.0.lacks_role(job, &role) {
            let role = shown(&role);
            return Err(Status::invalid_argument(format!(
                "job {job} has no role \"{role}\": it has {roles}"
            )));
        }
        let claimed = self.ask(move |state| state.claim(job, plan_version, who, incarnation)).await?;
        match claimed.ok_or_else(|| Status::unavailable(NOT_INSTALLED))? {
            Ok(Claim::Granted) => {
                tracing::info!(job = job.get(), plan_version = plan_version.get(), role, "host started");
                Ok(Response::new(proto::RegisterHostResponse {}))
            }
            Ok(Claim::Refused) => Err(Status::already_exists(format!(
                "{role} has run under plan version {plan_version} before, and switches may still hold sums of that run; \
                 restart the controller with a new plan version, then all hosts"
            ))),
            Ok(Claim::NotActive(live)) => Err(Status::failed_precondition(match live {
                Some(live) => format!(
                    "{role} asks for plan version {plan_version} of job {job}, but {live} is active now: restart the host"
                ),
                None => format!(
                    "{role} asks for plan version {plan_version} of job {job}, which has no active plan"
                ),
            })),
            Err(error) => Err(Status::internal(error.to_string())),
        }
    }

    type WatchInstructionsStream = BoxStream<'static, Result<proto::Instruction, Status>>;

    async fn watch_instructions(
        &self,
        request: Request<proto::WatchInstructionsRequest>,
    ) -> Result<Response<Self::WatchInstructionsStream>, Status> {
        self.in_charge()?;
        let proto::WatchInstructionsRequest { job, role, incarnation } = request.into_inner();
        let (job, who, incarnation) =
            (JobId::from(number(job)?), role.clone(), Incarnation::from(incarnation));
        let instructions = self.ask(move |state| state.watch_instructions(job, &who, incarnation)).await?;
        let instructions = instructions.map_err(|why| no_instructions(&role, job, why))?;
        let stream = Stream::open(self.0.clone(), job, role, incarnation);
        let instructions = WatchStream::new(instructions).map(move |instruction| {
            let _ = &stream; // lasts as long as the call
            Ok((&instruction).into())
        });
        Ok(Response::new(instructions.boxed()))
    }

    async fn ack_instruction(
        &self,
        request: Request<proto::AckInstructionRequest>,
    ) -> Result<Response<proto::AckInstructionResponse>, Status> {
        self.in_charge()?;
        let request = request.into_inner();
        let (step, moving) = (
            request.step().into(),
            inart_protocol_aggregation::MigrationProgress {
                is_lagging: request.is_lagging,
                results: request.results,
            },
        );
        let proto::AckInstructionRequest {
            job,
            role,
            incarnation,
            plan_version,
            previous_plan_version,
            refusal,
            ending,
            started,
            is_holding,
            ..
        } = request;
        let ending = EndingAnswer { ending: ending.map_or(Ending::None, Ending::from), started, is_holding };
        let (job, who, incarnation) =
            (JobId::from(number(job)?), role.clone(), Incarnation::from(incarnation));
        let previous_plan_version = previous_plan_version.map(number).transpose()?.map(PlanVersion::from);
        let refusal = Some(shown(&refusal).to_owned()).filter(|why| !why.is_empty());
        let answer = Answer {
            plan_versions: (PlanVersion::from(number(plan_version)?), previous_plan_version),
            step,
            moving,
            refusal,
        };
        let acknowledged =
            self.ask(move |state| state.acknowledge(job, who, incarnation, answer, ending)).await?;
        acknowledged.map_err(|why| no_instructions(&role, job, why))?;
        Ok(Response::new(proto::AckInstructionResponse {}))
    }

    async fn update_plan(
        &self,
        request: Request<proto::UpdatePlanRequest>,
    ) -> Result<Response<proto::ChangeResponse>, Status> {
        self.in_charge()?;
        let plan = Plan::from_json(&request.into_inner().plan);
        let plan = plan.map_err(|error| Status::invalid_argument(format!("the plan: {error}")))?;
        let number = self.0.order_change(plan).map_err(too_many)?;
        Ok(Response::new(proto::ChangeResponse { number }))
    }

    async fn join(
        &self,
        request: Request<proto::JoinRequest>,
    ) -> Result<Response<proto::JoinResponse>, Status> {
        self.in_charge()?;
        let request = request.into_inner();
        let (job, host) = self.elastic_host(&request.job, &request.host)?;
        let joining = Joining {
            host,
            incarnation: Incarnation::from(request.incarnation),
            last: request.last_view.map(number).transpose()?.map(PlanVersion::from),
            stop_point: request.stop_point,
            rounds: request.rounds,
            must_load_state: request.must_load_state,
        };
        let leaves = self.0.leaves(job, &joining.host);
        let until = tokio::time::Instant::now() + WAIT;
        loop {
            let met = self.0.met.notified();
            tokio::pin!(met);
            met.as_mut().enable();
            self.in_charge()?;
            let answered = self
                .0
                .join(job, joining.clone(), leaves)
                .ok_or_else(|| Status::unavailable(NOT_INSTALLED))?;
            let answer = match answered.map_err(refused)? {
                Answered::Admitted(membership) => join_response::Answer::Membership((&membership).into()),
                Answered::Waiting(why) => {
                    if tokio::time::timeout_at(until, met).await.is_ok() {
                        continue;
                    }
                    join_response::Answer::Waiting(why)
                }
            };
            return Ok(Response::new(proto::JoinResponse { answer: Some(answer) }));
        }
    }

    async fn leave(
        &self,
        request: Request<proto::LeaveRequest>,
    ) -> Result<Response<proto::LeaveResponse>, Status> {
        self.in_charge()?;
        let proto::LeaveRequest { job, host, incarnation, rounds, done } = request.into_inner();
        let (job, host) = self.elastic_host(&job, &host)?;
        tracing::info!(job = job.get(), host, rounds, done, "host left");
        self.0.leave(job, &host, Incarnation::from(incarnation), rounds, done);
        Ok(Response::new(proto::LeaveResponse {}))
    }

    async fn create_job(
        &self,
        request: Request<proto::CreateJobRequest>,
    ) -> Result<Response<proto::ChangeResponse>, Status> {
        self.in_charge()?;
        let proto::CreateJobRequest { topology, job, window_chunks } = request.into_inner();
        let document = Topology::from_yaml(&topology);
        let document =
            document.map_err(|error| Status::invalid_argument(format!("the topology: {error}")))?;
        usable("job", &job)?;
        if window_chunks != 0
            && !(window_chunks.is_power_of_two() && window_chunks <= Assignment::MAX_WINDOW_CHUNKS)
        {
            let most = Assignment::MAX_WINDOW_CHUNKS;
            let words = format!("a window of {window_chunks} chunks: give a power of two up to {most}");
            return Err(Status::invalid_argument(words));
        }
        let window_chunks = Some(window_chunks).filter(|window| *window > 0);
        let number = self.0.order_submission(document, job, window_chunks).map_err(too_many)?;
        Ok(Response::new(proto::ChangeResponse { number }))
    }

    async fn delete_job(
        &self,
        request: Request<proto::DeleteJobRequest>,
    ) -> Result<Response<proto::ChangeResponse>, Status> {
        self.in_charge()?;
        let proto::DeleteJobRequest { job, force } = request.into_inner();
        usable("job", &job)?;
        let number = self.0.order_deletion(&job, force).ok_or_else(|| Status::unavailable(NOT_INSTALLED))?;
        let number = number.map_err(Status::not_found)?.map_err(too_many)?;
        Ok(Response::new(proto::ChangeResponse { number }))
    }

    async fn pause_job(
        &self,
        request: Request<proto::PauseJobRequest>,
    ) -> Result<Response<proto::PauseJobResponse>, Status> {
        self.in_charge()?;
        let job = request.into_inner().job;
        usable("job", &job)?;
        let paused = self.0.set_paused(&job, true);
        let paused = paused.ok_or_else(|| Status::unavailable(NOT_INSTALLED))?;
        paused.map_err(Status::failed_precondition)?;
        Ok(Response::new(proto::PauseJobResponse {}))
    }

    async fn resume_job(
        &self,
        request: Request<proto::ResumeJobRequest>,
    ) -> Result<Response<proto::ResumeJobResponse>, Status> {
        self.in_charge()?;
        let job = request.into_inner().job;
        usable("job", &job)?;
        let resumed = self.0.set_paused(&job, false);
        let resumed = resumed.ok_or_else(|| Status::unavailable(NOT_INSTALLED))?;
        resumed.map_err(Status::failed_precondition)?;
        Ok(Response::new(proto::ResumeJobResponse {}))
    }

    async fn list_decisions(
        &self,
        _: Request<proto::ListDecisionsRequest>,
    ) -> Result<Response<proto::ListDecisionsResponse>, Status> {
        let decisions = self.0.decisions().iter().map(decision).collect();
        Ok(Response::new(proto::ListDecisionsResponse { decisions }))
    }

    async fn replan(
        &self,
        request: Request<proto::ReplanRequest>,
    ) -> Result<Response<proto::ReplanResponse>, Status> {
        self.in_charge()?;
        let shares = if request.into_inner().shares { Shares::Free } else { Shares::Kept };
        let asked = self.0.ask_for_decision(shares).ok_or_else(|| {
            Status::failed_precondition(
                "replanning is off; restart the controller with replanning or a dry run",
            )
        })?;
        let ended = |_| Status::unavailable("it has ended");
        let decided = asked.await.map_err(ended)?.map_err(Status::failed_precondition)?;
        Ok(Response::new(proto::ReplanResponse { decision: Some(decision(&decided)) }))
    }

    async fn report_metrics(
        &self,
        request: Request<proto::ReportMetricsRequest>,
    ) -> Result<Response<proto::ReportMetricsResponse>, Status> {
        self.in_charge()?;
        let report = request.into_inner();
        let (job, incarnation) = (JobId::from(number(report.job)?), Incarnation::from(report.incarnation));
        let role = report.role.clone();
        let acknowledged = self.ask(move |state| state.report(job, report, incarnation)).await?;
        acknowledged.map_err(|why| no_instructions(&role, job, why))?;
        Ok(Response::new(proto::ReportMetricsResponse {}))
    }

    async fn get_status(
        &self,
        _: Request<proto::GetStatusRequest>,
    ) -> Result<Response<proto::Status>, Status> {
        Ok(Response::new(self.0.status()))
    }
}
