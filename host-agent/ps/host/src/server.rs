//! The server's process.

use std::sync::Arc;
use std::time::Duration;

use inart_connections::{Connections, Host, Names, Transport, draw, drive};
use inart_host_agent::StopSignal;
use inart_host_agent::status::{AnyStatus, StatusPublisher, StatusSocket};
use inart_ps_agent::{Applied, Sequencer, ServerAgent, ServerCounters, ServerReport, ServerSetup, Training};
use inart_terms::{Agreement, Terms};

use crate::error::HostError;
use crate::job::{CHUNK_VALUES, Job};
use crate::kept_file::KeptFile;
use crate::network::Paced;
use crate::options::{HostOptions, ServerOptions, WINDOW};
use crate::watch::Watch;

/// No worker is connected for so long unless set otherwise.
const PATIENCE: Duration = Duration::from_secs(600);

/// What a server has done.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerEvent {
    /// Something that concerns workers.
    Report(ServerReport),
    /// The model has a new version.
    Applied {
        /// Which, and what was applied.
        applied: Applied,
        /// The model; none if another version has followed at once.
        model: Option<Arc<Vec<f32>>>,
    },
}

/// A server's process, for one job.
pub struct ServerHost<S> {
    agent: ServerAgent<S>,
    names: Names,
    transport: Transport,
    side: ServerSide,
}

/// A server beside its machine: its log, its status, and the signal that ends it.
struct ServerSide {
    job: Job,
    watch: Watch,
    stop: Option<StopSignal>,
    status: StatusPublisher,
}

impl<S: Sequencer> ServerHost<S> {
    /// Listens, and begins to connect to all workers. To be called within a tokio runtime. With a file, each
    /// version is kept in it.
    ///
    /// # Errors
    /// An address or an interface that cannot be had, or certificates; a worker whose address is missing, or
    /// is no host's; somebody who is no worker; a model of another length.
    pub fn open(
        job: &Job,
        sequencer: S,
        server: ServerOptions,
        kept: Option<KeptFile>,
        options: HostOptions,
    ) -> Result<Self, HostError> {
        let values = sequencer.values().len();
        if values != job.values {
            return Err(HostError::Model { job: job.name.clone(), values, wanted: job.values });
        }
        let named: Vec<&String> = match &options {
            HostOptions::Quic(options) => options.peers.keys().collect(),
            HostOptions::Frames(options) => options.peers.keys().collect(),
        };
        for name in named {
            job.number(name)?;
        }
        let paced = Paced::by(&options, server.rates_bps);
        let names = Names { me: job.server.clone(), all: job.workers.clone() };
        let transport = crate::network::open(&names, None, &paced.by_transport, options)?;
        let setup = ServerSetup {
            incarnation: draw(),
            model: job.fingerprint(),
            chunk_values: CHUNK_VALUES,
            precision: server.precision,
            window: WINDOW,
            rates_bps: paced.by_agent,
            gather: server.gather,
            absence: server.absence,
            iterations: server.iterations,
        };
        let mut agent = ServerAgent::new(setup, sequencer).with_patience(PATIENCE);
        if let Some(file) = kept {
            agent = agent.with_keeper(Arc::new(file));
        }
        let (stop, status) = (None, StatusPublisher::default());
        let side = ServerSide { job: job.clone(), watch: Watch::new(), stop, status };
        let (number, terms) = (new_training(), job.terms(&[])?);
        Ok(ServerHost { agent, names, transport, side }.with_training(number, terms))
    }

    /// Sets which training it is: its number, drawn when the model began ([`new_training`]) and kept with it,
    /// and the terms that workers have to share. A worker that has trained in another one is refused.
    #[must_use]
    pub fn with_training(mut self, number: u64, terms: Terms) -> Self {
        let Job { server, workers, .. } = self.side.job.clone();
        let training = Training { number, server, workers, agreement: Agreement::new(terms) };
        self.agent = self.agent.with_training(training);
        self
    }

    /// Sets for how long no worker may be connected before the server ends; 600 s unless set.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.agent = self.agent.with_patience(patience);
        self
    }

    /// Ends the training when this signal is received: workers receive that reason.
    #[must_use]
    pub fn with_stop(mut self, stop: StopSignal) -> Self {
        self.side.stop = Some(stop);
        self
    }

    /// Publishes through this socket what the server does.
    #[must_use]
    pub fn with_status(self, socket: StatusSocket<AnyStatus>) -> Self {
        self.side.status.set(socket);
        self
    }

    /// Serves workers until the training is over; calls `events` for what happens. What was dropped by the
    /// agent and by the connections, and what decided the order.
    ///
    /// # Errors
    /// A version that cannot be kept; an interface that cannot be used any more; a model that becomes
    /// infinite; no worker for too long. Workers that are connected have heard why.
    pub async fn run(
        mut self,
        on_event: impl FnMut(ServerEvent),
    ) -> Result<(ServerCounters, Connections, S), HostError>
    where
        S: Clone,
    {
        // A server has no program that orders anything.
        let (orders, taken) = tokio::sync::mpsc::unbounded_channel();
        let mut host = Serving { side: &mut self.side, on_event };
        let ended = drive(self.agent, &self.names, self.transport, taken, &mut host).await;
        drop(orders);
        let (agent, connections) = ended?;
        Ok((agent.counters(), connections, agent.sequencer().clone()))
    }
}

/// A server that runs.
struct Serving<'a, F> {
    side: &'a mut ServerSide,
    on_event: F,
}

impl<S: Sequencer, F: FnMut(ServerEvent)> Host<ServerAgent<S>> for Serving<'_, F> {
    type Error = HostError;

    /// The machine reports versions once the last of them is kept.
    fn report(&mut self, report: ServerReport, server: &mut ServerAgent<S>) -> Result<(), HostError> {
        let job = &self.side.job;
        match report {
            ServerReport::Applied(applied) => {
                self.side.watch.progress();
                let is_last = server.sequencer().version() == applied.version;
                let model = is_last.then(|| server.model());
                (self.on_event)(ServerEvent::Applied { applied, model });
            }
            ServerReport::Overflow { version, overflow } => {
                let worker = job.workers.get(overflow.worker.index()).cloned().unwrap_or_default();
                return Err(HostError::Overflow { worker, version, at: overflow.at });
            }
            ServerReport::Alone { waited } => {
                let (job, workers) = (job.name.clone(), job.workers.join(", "));
                return Err(HostError::NoWorkers { job, seconds: waited.as_secs_f64(), workers });
            }
            ServerReport::NotKept { why } => return Err(HostError::NotKept { why }),
            other => {
                if let ServerReport::Joined { .. } | ServerReport::Pushed { .. } = other {
                    self.side.watch.progress();
                }
                (self.on_event)(ServerEvent::Report(other));
            }
        }
        Ok(())
    }

    /// Logs for whom the server waits, and tells those that wait for their turn.
    fn look(
        &mut self,
        server: &mut ServerAgent<S>,
        network: &Transport,
        now: Duration,
    ) -> Result<(), HostError> {
        let ServerSide { job, watch, stop, status } = &mut *self.side;
        if status.is_due() {
            status.take(watch.status(&job.server, server, now, network));
        }
        if server.is_stopped() {
            return Ok(());
        }
        if stop.as_mut().is_some_and(|stop| stop.is_received().unwrap_or_default()) {
            return Err(inart_connections::Error::Stopped { name: job.server.clone() }.into());
        }
        if let Some(waits) = watch.due(server, now, network) {
            tracing::warn!("waiting: {waits}");
            server.say_waiting(&waits);
        }
        Ok(())
    }
}

/// Draws the number of a new training.
pub fn new_training() -> u64 {
    u64::from(draw()) << 32 | u64::from(draw())
}
