//! A host: its name, its controller, and its transport in each view.

use std::time::{Duration, Instant};

use inart_controller_api::{Answer, HostReport, Joining, Reporting, Source, ViewMembership};
use inart_host_agent::status::{HostStatus, StatusSocket, StatusWatch};
use inart_host_agent::{BatchedPort, Options, Transport};
use inart_wire::{Incarnation, PlanVersion};

use crate::error::{Error, LeaveReason};

type AgentError = inart_host_agent::Error;
type Open = Box<dyn FnMut() -> Result<Box<dyn Transport>, AgentError> + Send>;
/// Asked now and then during a wait.
type Asked = Box<dyn FnMut() -> bool + Send>;
type MakeOptions = Box<dyn FnMut() -> Result<Options, AgentError> + Send>;

/// A wait for a view that lasts longer is logged as a warning.
const LOG_AFTER: Duration = Duration::from_secs(5);
/// Interval of further log lines.
const LOG_INTERVAL: Duration = Duration::from_secs(10);
/// Interval at which a host that waits for the controller checks for a stop request.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Timeout of the leave message to a controller.
const LEAVE_WITHIN: Duration = Duration::from_secs(10);

/// Location and settings of a host of an elastic job.
pub struct Host {
    pub(crate) source: Source,
    pub(crate) name: String,
    open: Open,
    options: MakeOptions,
    is_stopped: Asked,
    is_interrupted: Asked,
    on_waiting: Box<dyn FnMut(&str) + Send>,
    pub(crate) incarnation: Incarnation,
    pub(crate) rounds: u64,
    pub(crate) records: bool,
}

impl Host {
    /// Creates the host of that name in the topology (or at that position in its list of the job's hosts,
    /// such as worker-3), on a network interface. The source is a controller.
    pub fn new(source: Source, name: &str, interface: &str) -> Self {
        let interface = interface.to_owned();
        Self::with_transport(source, name, move || Ok(Box::new(BatchedPort::open(&interface)?)))
    }

    /// Creates a host with a transport that is opened for each view.
    pub fn with_transport(
        source: Source,
        name: &str,
        open: impl FnMut() -> Result<Box<dyn Transport>, AgentError> + Send + 'static,
    ) -> Self {
        let incarnation = Options::default().incarnation;
        Self {
            source,
            name: name.to_owned(),
            open: Box::new(open),
            options: Box::new(|| Ok(Options::default())),
            is_stopped: Box::new(|| false),
            is_interrupted: Box::new(|| false),
            on_waiting: Box::new(|_| ()),
            incarnation,
            rounds: 0,
            records: false,
        }
    }

    /// Sets the options of its agent, called once per view. The incarnation is the host's own. A status
    /// socket is shared by all views: give a clone.
    #[must_use]
    pub fn options(mut self, options: impl FnMut() -> Result<Options, AgentError> + Send + 'static) -> Self {
        self.options = Box::new(options);
        self
    }

    /// Sets a function that is polled during all waits: whether the host was asked to stop. Then it leaves
    /// the job.
    #[must_use]
    pub fn stopped_by(mut self, is_stopped: impl FnMut() -> bool + Send + 'static) -> Self {
        self.is_stopped = Box::new(is_stopped);
        self
    }

    /// Sets a function that is polled during all waits: whether the call is to end ([`Error::Interrupted`]).
    #[must_use]
    pub fn interrupted_by(mut self, is_interrupted: impl FnMut() -> bool + Send + 'static) -> Self {
        self.is_interrupted = Box::new(is_interrupted);
        self
    }

    /// Sets a function that receives a description of what the host waits for before a view starts, whenever
    /// that changes.
    #[must_use]
    pub fn on_waiting(mut self, on_waiting: impl FnMut(&str) + Send + 'static) -> Self {
        self.on_waiting = Box::new(on_waiting);
        self
    }

    /// Returns why a wait is to end, if it is.
    pub(crate) fn ending(&mut self) -> Option<Error> {
        match ((self.is_stopped)(), (self.is_interrupted)()) {
            (true, _) => Some(Error::Stopped),
            (false, true) => Some(Error::Interrupted),
            (false, false) => None,
        }
    }

    /// Adds a function that is polled for a stop request.
    pub(crate) fn also_stopped_by(&mut self, mut is_stopped: impl FnMut() -> bool + Send + 'static) {
        let mut before = std::mem::replace(&mut self.is_stopped, Box::new(|| false));
        self.is_stopped = Box::new(move || before() || is_stopped());
    }

    /// Sets the number of completed rounds in its initial state, such as a checkpoint.
    #[must_use]
    pub fn after_rounds(mut self, rounds: u64) -> Self {
        self.rounds = rounds;
        self
    }

    /// Makes its worker record all views and sums ([`ElasticWorker::events`](crate::ElasticWorker::events)),
    /// for callers that check them, and poll often.
    #[must_use]
    pub fn recorded(mut self) -> Self {
        self.records = true;
        self
    }

    /// Returns the transport and options of a view, and the watch of its status.
    pub(crate) fn agent(&mut self) -> Result<(Box<dyn Transport>, Options, StatusWatch), Error> {
        let mut options = Options { incarnation: self.incarnation, ..(self.options)()? };
        let watch = options.status.get_or_insert_with(StatusSocket::quiet).watch();
        Ok(((self.open)()?, options, watch))
    }

    /// Reports to the controller how the host is in a view, until that is dropped.
    pub(crate) fn report(
        &self,
        membership: &ViewMembership,
        watch: StatusWatch,
    ) -> Result<Option<Reporting>, Error> {
        let report = move || {
            Some(match watch.latest()? {
                HostStatus::Worker(worker) => HostReport::from(&worker),
                HostStatus::Server(server) => HostReport::from(&server),
            })
        };
        Ok(self.source.report(
            membership.assignment.job,
            &membership.role.to_string(),
            self.incarnation,
            report,
        )?)
    }

    /// Waits for a view. `last` is the previous view, if any, and why it was left. If the wait is to end, the
    /// host leaves the job.
    pub(crate) fn wait_for_view(
        &mut self,
        last: Option<(PlanVersion, &LeaveReason)>,
        rounds: u64,
        must_load_state: bool,
    ) -> Result<ViewMembership, Error> {
        let stop_point = last.and_then(|(_, left)| match left {
            LeaveReason::StopPoint(tensor) => Some(*tensor),
            LeaveReason::Ordered | LeaveReason::Aborted(_) => None,
        });
        let last = last.map(|(view, _)| view);
        let joining = Joining {
            host: self.name.clone(),
            incarnation: self.incarnation,
            last,
            stop_point,
            rounds,
            must_load_state,
        };
        let (began, mut logged) = (Instant::now(), String::new());
        let mut log_at = began + LOG_AFTER;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        loop {
            let answer = match runtime.block_on(self.ask(&joining)) {
                Err(ending @ (Error::Stopped | Error::Interrupted)) => {
                    // The leave message saves the others a wait; without a controller, there is none.
                    let _ = self.leave(rounds, false);
                    return Err(ending);
                }
                answer => answer?,
            };
            match answer {
                Answer::Admitted(membership) => {
                    let (view, role, workers) =
                        (membership.view.get(), membership.role, membership.assignment.workers.len());
                    tracing::info!(host = self.name, view, %role, workers, must_load_state = membership.must_load_state, "run started");
                    return Ok(membership);
                }
                Answer::Waiting(why) => {
                    if why != logged {
                        tracing::info!(host = self.name, "waiting for a view: {why}");
                        (self.on_waiting)(&why);
                        logged = why;
                    }
                    if Instant::now() >= log_at {
                        log_at = Instant::now() + LOG_INTERVAL;
                        let seconds = began.elapsed().as_secs();
                        tracing::warn!(host = self.name, seconds, "waiting for a view: {logged}");
                    }
                    // The answer took its time, unless the controller is about to end.
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
        }
    }

    /// Asks for a view once.
    ///
    /// # Errors
    ///
    /// The controller's error, or the reason why the wait for its answer ends.
    async fn ask(&mut self, joining: &Joining) -> Result<Answer, Error> {
        if let Some(ending) = self.ending() {
            return Err(ending);
        }
        // The answer may take as long as a start of the controller.
        let source = self.source.clone();
        let answer = source.join(joining);
        tokio::pin!(answer);
        loop {
            match tokio::time::timeout(POLL_INTERVAL, &mut answer).await {
                Ok(answer) => return answer?.ok_or(Error::NoController),
                Err(_) => self.ending().map_or(Ok(()), Err)?,
            }
        }
    }

    /// Sends the leave message, so that no host waits for it any more.
    ///
    /// # Errors
    ///
    /// The controller's error, if it answers in time.
    pub(crate) fn leave(&self, rounds: u64, done: bool) -> Result<(), Error> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let leave = self.source.leave(&self.name, self.incarnation, rounds, done);
        let awaited = "this host leaves the job";
        let silent = Error::ControllerSilent { awaited, patience: LEAVE_WITHIN };
        let left = runtime.block_on(async { tokio::time::timeout(LEAVE_WITHIN, leave).await });
        Ok(left.map_err(|_| silent)??)
    }
}
