//! A host: who it is, where its controller is, and how it reaches its peers in each run.

use std::time::Duration;

use inart_control::{Answer, HostReport, Joining, Reporting, Seat, Source};
use inart_host_agent::status::{HostStatus, StatusSocket, StatusWatch};
use inart_host_agent::{BatchedPort, Options, Transport};
use inart_wire::{Epoch, Incarnation};

use crate::error::{Error, Left};

type AgentError = inart_host_agent::Error;
type Open = Box<dyn FnMut() -> Result<Box<dyn Transport>, AgentError> + Send>;
type MakeOptions = Box<dyn FnMut() -> Result<Options, AgentError> + Send>;

/// Where a host of an elastic job runs, and how.
pub struct Host {
    pub(crate) source: Source,
    pub(crate) name: String,
    open: Open,
    options: MakeOptions,
    is_stopped: Box<dyn FnMut() -> bool + Send>,
    pub(crate) life: Incarnation,
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

    /// The same on a transport, which is opened for each run.
    pub fn with_transport(
        source: Source,
        name: &str,
        open: impl FnMut() -> Result<Box<dyn Transport>, AgentError> + Send + 'static,
    ) -> Self {
        let life = Options::default().incarnation;
        Self {
            source,
            name: name.to_owned(),
            open: Box::new(open),
            options: Box::new(|| Ok(Options::default())),
            is_stopped: Box::new(|| false),
            life,
            rounds: 0,
            records: false,
        }
    }

    /// How its agent runs in each run; called once per run. The incarnation is the host's own. A status
    /// socket is one for all runs: give a clone.
    #[must_use]
    pub fn options(mut self, options: impl FnMut() -> Result<Options, AgentError> + Send + 'static) -> Self {
        self.options = Box::new(options);
        self
    }

    /// Asked now and then while it waits for a run: whether it was told to stop.
    #[must_use]
    pub fn stopped_by(mut self, is_stopped: impl FnMut() -> bool + Send + 'static) -> Self {
        self.is_stopped = Box::new(is_stopped);
        self
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

    /// What a run needs, and what tells how the host is in it.
    pub(crate) fn agent(&mut self) -> Result<(Box<dyn Transport>, Options, StatusWatch), Error> {
        let mut options = Options { incarnation: self.life, ..(self.options)()? };
        let watch = options.status.get_or_insert_with(StatusSocket::quiet).watch();
        Ok(((self.open)()?, options, watch))
    }

    /// Reports to the controller how the host is in a run, until that is dropped.
    pub(crate) fn report(&self, seat: &Seat, watch: StatusWatch) -> Result<Option<Reporting>, Error> {
        let report = move || {
            Some(match watch.latest()? {
                HostStatus::Worker(worker) => HostReport::from(&worker),
                HostStatus::Server(server) => HostReport::from(&server),
            })
        };
        Ok(self.source.report(seat.assignment.job, &seat.role.to_string(), self.life, report)?)
    }

    /// Waits for a run. It left the one before, if any, in that way.
    pub(crate) fn wait_for_run(
        &mut self,
        last: Option<(Epoch, &Left)>,
        rounds: u64,
        loading: bool,
    ) -> Result<Seat, Error> {
        let boundary = last.and_then(|(_, left)| match left {
            Left::Boundary(tensor) => Some(*tensor),
            Left::Told | Left::Aborted(_) => None,
        });
        let last = last.map(|(run, _)| run);
        let joining = Joining { host: self.name.clone(), life: self.life, last, boundary, rounds, loading };
        let mut told = String::new();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        loop {
            if (self.is_stopped)() {
                return Err(Error::Stopped);
            }
            match runtime.block_on(self.source.join(&joining))?.ok_or(Error::NoController)? {
                Answer::Seated(seat) => {
                    let (run, role, workers) = (seat.run.get(), seat.role, seat.assignment.workers.len());
                    tracing::info!(host = self.name, run, %role, workers, loads = seat.loads, "a run begins");
                    return Ok(seat);
                }
                Answer::Waiting(why) => {
                    if why != told {
                        tracing::info!(host = self.name, "waits for a run: {why}");
                        told = why;
                    }
                    // The answer took its time, unless the controller is about to end.
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
        }
    }

    /// Nobody waits for it any more.
    pub(crate) fn leave(&self, rounds: u64, done: bool) -> Result<(), Error> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(runtime.block_on(self.source.leave(&self.name, self.life, rounds, done))?)
    }
}
