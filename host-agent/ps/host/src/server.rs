//! The server's process.

use std::sync::Arc;
use std::time::Duration;

use inart_connections::{Connections, Host, Names, Transport, draw, drive};
use inart_host_agent::StopSignal;
use inart_host_agent::status::{AnyStatus, StatusPublisher, StatusSocket};
use inart_ps_agent::{Applied, Sequencer, ServerAgent, ServerCounters, ServerReport, ServerSetup, Training};
use inart_terms::{Agreement, Terms};

use crate::checkpoint_file::CheckpointFile;
use crate::error::HostError;
use crate::job::{CHUNK_VALUES, Job};
use crate::network::Paced;
use crate::options::{HostOptions, ServerOptions, WINDOW};
use crate::watch::Watch;

/// Default time without a connected worker after which the server ends.
const PATIENCE: Duration = Duration::from_secs(600);

/// Event of a server.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerEvent {
    /// Report of the agent.
    Report(ServerReport),
    /// A new version of the model.
    Applied {
        /// Version, and the applied updates.
        applied: Applied,
        /// Values of the model; `None` if another version has followed at once.
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

/// A server's log, its status, and the signal that ends it, next to its machine.
struct ServerSide {
    job: Job,
    watch: Watch,
    stop: Option<StopSignal>,
    status: StatusPublisher,
}

impl<S: Sequencer> ServerHost<S> {
    /// Listens, and starts to connect to all workers. Must be called within a tokio runtime. With a file,
    /// each version is stored in it.
    ///
    /// # Errors
    /// An address or an interface is not available, or certificates are invalid; a worker's address is
    /// missing or invalid; an address belongs to no worker; the model has another length.
    pub fn open(
        job: &Job,
        sequencer: S,
        server: ServerOptions,
        kept: Option<CheckpointFile>,
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
            agent = agent.with_store(Arc::new(file));
        }
        let (stop, status) = (None, StatusPublisher::default());
        let side = ServerSide { job: job.clone(), watch: Watch::new(), stop, status };
        let (number, terms) = (new_training(), job.terms(&[])?);
        Ok(ServerHost { agent, names, transport, side }.with_training(number, terms))
    }

    /// Sets the training: its number, drawn with the first model ([`new_training`]) and kept in checkpoints,
    /// and the settings that workers must share. A worker that has trained in another one is refused.
    #[must_use]
    pub fn with_training(mut self, number: u64, terms: Terms) -> Self {
        let Job { server, workers, .. } = self.side.job.clone();
        let training = Training { number, server, workers, agreement: Agreement::new(terms) };
        self.agent = self.agent.with_training(training);
        self
    }

    /// Sets the longest time without a connected worker before the server ends; 600 s by default.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.agent = self.agent.with_patience(patience);
        self
    }

    /// Ends the training when this signal arrives: workers receive it as the reason.
    #[must_use]
    pub fn with_stop(mut self, stop: StopSignal) -> Self {
        self.side.stop = Some(stop);
        self
    }

    /// Publishes the server's status through this socket.
    #[must_use]
    pub fn with_status(self, socket: StatusSocket<AnyStatus>) -> Self {
        self.side.status.set(socket);
        self
    }

    /// Serves workers until the training is over; calls `on_event` for each event. Returns the drop counters
    /// of the agent and of the connections, and the sequencer.
    ///
    /// # Errors
    /// A version cannot be stored; an interface is not usable any more; the model would become infinite; no
    /// worker for too long. Connected workers have received the reason.
    pub async fn run(
        mut self,
        on_event: impl FnMut(ServerEvent),
    ) -> Result<(ServerCounters, Connections, S), HostError>
    where
        S: Clone,
    {
        // A server has no program that sends orders.
        let (orders, taken) = tokio::sync::mpsc::unbounded_channel();
        let mut host = Serving { side: &mut self.side, on_event };
        let ended = drive(self.agent, &self.names, self.transport, taken, &mut host).await;
        drop(orders);
        let (agent, connections) = ended?;
        Ok((agent.counters(), connections, agent.sequencer().clone()))
    }
}

/// A running server.
struct Serving<'a, F> {
    side: &'a mut ServerSide,
    on_event: F,
}

impl<S: Sequencer, F: FnMut(ServerEvent)> Host<ServerAgent<S>> for Serving<'_, F> {
    type Error = HostError;

    /// The machine reports versions once the last of them is stored.
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

    /// Logs the workers that the server waits for, and notifies those that wait for their turn.
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
            server.notify_waiting(&waits);
        }
        Ok(())
    }
}

/// Draws the number of a new training.
pub fn new_training() -> u64 {
    u64::from(draw()) << 32 | u64::from(draw())
}
