//! A host: who it is, where its controller is, and how it reaches its peers in each view.

use std::time::{Duration, Instant};

use inart_controller_api::{Answer, HostReport, Joining, Reporting, Source, ViewMembership};
use inart_host_agent::status::{HostStatus, StatusSocket, StatusWatch};
use inart_host_agent::{BatchedPort, Options, Transport};
use inart_wire::{Incarnation, PlanVersion};

use crate::error::{Error, Left};

type AgentError = inart_host_agent::Error;
type Open = Box<dyn FnMut() -> Result<Box<dyn Transport>, AgentError> + Send>;
/// Asked now and then during a wait.
type Asked = Box<dyn FnMut() -> bool + Send>;
type MakeOptions = Box<dyn FnMut() -> Result<Options, AgentError> + Send>;

/// A wait for a view that lasts longer is logged as a warning.
const SAY_AFTER: Duration = Duration::from_secs(5);
/// From then on it is logged this often.
const SAY_EVERY: Duration = Duration::from_secs(10);
/// During a wait for the controller, a host looks this often whether it was told to stop.
const LOOK: Duration = Duration::from_millis(50);
/// A controller has this long to hear that a host leaves.
const LEAVE_WITHIN: Duration = Duration::from_secs(10);

/// Where a host of an elastic job runs, and how.
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
    /// The host of that name in the topology (or of that place in its list of the job's hosts, such as
    /// worker-3), on a network interface. The source is a controller.
    pub fn new(source: Source, name: &str, interface: &str) -> Self {
        let interface = interface.to_owned();
        Self::with_transport(source, name, move || Ok(Box::new(BatchedPort::open(&interface)?)))
    }

    /// The same on a transport, which is opened for each view.
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

    /// How its agent runs in each view; called once per run. The incarnation is the host's own. A status
    /// socket is one for all runs: give a clone.
    #[must_use]
    pub fn options(mut self, options: impl FnMut() -> Result<Options, AgentError> + Send + 'static) -> Self {
        self.options = Box::new(options);
        self
    }

    /// Asked now and then during all waits: whether it was told to stop. Then it leaves the job.
    #[must_use]
    pub fn stopped_by(mut self, is_stopped: impl FnMut() -> bool + Send + 'static) -> Self {
        self.is_stopped = Box::new(is_stopped);
        self
    }

    /// Asked now and then during all waits: whether the call is to end ([`Error::Interrupted`]).
    #[must_use]
    pub fn interrupted_by(mut self, is_interrupted: impl FnMut() -> bool + Send + 'static) -> Self {
        self.is_interrupted = Box::new(is_interrupted);
        self
    }

    /// Gets what the host waits for before a view begins, in words, whenever that changes.
    #[must_use]
    pub fn on_waiting(mut self, on_waiting: impl FnMut(&str) + Send + 'static) -> Self {
        self.on_waiting = Box::new(on_waiting);
        self
    }

    /// Why a wait is to end, if it is.
    pub(crate) fn ending(&mut self) -> Option<Error> {
        match ((self.is_stopped)(), (self.is_interrupted)()) {
            (true, _) => Some(Error::Stopped),
            (false, true) => Some(Error::Interrupted),
            (false, false) => None,
        }
    }

    /// The same beside what asks already.
    pub(crate) fn also_stopped_by(&mut self, mut is_stopped: impl FnMut() -> bool + Send + 'static) {
        let mut before = std::mem::replace(&mut self.is_stopped, Box::new(|| false));
        self.is_stopped = Box::new(move || before() || is_stopped());
    }

    /// It begins with a state in which so many rounds are done, such as one that it kept on disk.
    #[must_use]
    pub fn after_rounds(mut self, rounds: u64) -> Self {
        self.rounds = rounds;
        self
    }

    /// Its worker keeps account of all runs and sums
    /// ([`ElasticWorker::events`](crate::ElasticWorker::events)): for who checks them, and asks often.
    #[must_use]
    pub fn recorded(mut self) -> Self {
        self.records = true;
        self
    }

    /// What a view needs, and what tells how the host is in it.
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

    /// Waits for a view. It left the one before, if any, in that way. If the wait is to end, the host leaves
    /// the job.
    pub(crate) fn wait_for_view(
        &mut self,
        last: Option<(PlanVersion, &Left)>,
        rounds: u64,
        must_load_state: bool,
    ) -> Result<ViewMembership, Error> {
        let stop_point = last.and_then(|(_, left)| match left {
            Left::Boundary(tensor) => Some(*tensor),
            Left::Told | Left::Aborted(_) => None,
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
        let (began, mut told) = (Instant::now(), String::new());
        let mut say_at = began + SAY_AFTER;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        loop {
            let answer = match runtime.block_on(self.ask(&joining)) {
                Err(ending @ (Error::Stopped | Error::Interrupted)) => {
                    // Nobody has to wait for it; a controller that is gone waits for nobody.
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
                    if why != told {
                        tracing::info!(host = self.name, "waiting for a view: {why}");
                        (self.on_waiting)(&why);
                        told = why;
                    }
                    if Instant::now() >= say_at {
                        say_at = Instant::now() + SAY_EVERY;
                        let seconds = began.elapsed().as_secs();
                        tracing::warn!(host = self.name, seconds, "waiting for a view: {told}");
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
    /// What the controller says, or why the wait for its answer is to end.
    async fn ask(&mut self, joining: &Joining) -> Result<Answer, Error> {
        if let Some(ending) = self.ending() {
            return Err(ending);
        }
        // The answer may take as long as a controller that starts.
        let source = self.source.clone();
        let answer = source.join(joining);
        tokio::pin!(answer);
        loop {
            match tokio::time::timeout(LOOK, &mut answer).await {
                Ok(answer) => return answer?.ok_or(Error::NoController),
                Err(_) => self.ending().map_or(Ok(()), Err)?,
            }
        }
    }

    /// Nobody waits for it any more.
    ///
    /// # Errors
    /// What the controller says, if it says anything in time.
    pub(crate) fn leave(&self, rounds: u64, done: bool) -> Result<(), Error> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let leave = self.source.leave(&self.name, self.incarnation, rounds, done);
        let awaited = "this host leaves the job";
        let silent = Error::ControllerSilent { awaited, patience: LEAVE_WITHIN };
        let said = runtime.block_on(async { tokio::time::timeout(LEAVE_WITHIN, leave).await });
        Ok(said.map_err(|_| silent)??)
    }
}
