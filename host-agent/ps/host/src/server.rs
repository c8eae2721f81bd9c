//! The server's process.

use std::sync::Arc;
use std::time::{Duration, Instant};

use inart_host_agent::StopSignal;
use inart_host_agent::status::{AnyStatus, StatusPublisher, StatusSocket};
use inart_order::WorkerNo;
use inart_order_agent::{
    Applied, Sequencer, ServerAgent, ServerCounters, ServerOutput, ServerSetup, Training,
};
use inart_quic::{is_regular_end, names_another_process};
use inart_terms::{Agreement, Terms};

use crate::connections::Connections;
use crate::error::HostError;
use crate::job::{CHUNK_VALUES, Job};
use crate::keeper::Keeper;
use crate::kept_file::{KeptFile, KeptTraining};
use crate::options::{HostOptions, ServerOptions};
use crate::sleep::{draw, next_look};
use crate::transport::{Event, Next, Paced, Seat, Transport};
use crate::watch::{PATIENCE, Watch};

/// Chunks under way to each worker at most.
pub(crate) const WINDOW: usize = 16;
/// How long those that are connected have to hear of the end.
const LONGEST_END: Duration = Duration::from_secs(5);

/// What a server has done.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    /// Something that concerns workers.
    Output(ServerOutput),
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
    job: Job,
    transport: Transport,
    keeper: Keeper,
    start: Instant,
    watch: Watch,
    patience: Duration,
    stop: Option<StopSignal>,
    status: StatusPublisher,
    /// Why the training has ended early, and since when workers are told.
    failed: Option<(HostError, Instant)>,
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
        let me = Seat { name: &job.server, place: None };
        let transport = Transport::open(me, &job.workers, &paced.by_transport, options)?;
        let setup = ServerSetup {
            life: draw(),
            model: job.fingerprint(),
            chunk_values: CHUNK_VALUES,
            precision: server.precision,
            window: WINDOW,
            rates_bps: paced.by_agent,
            gather: server.gather,
            absence: server.absence,
            iterations: server.iterations,
        };
        let host = ServerHost {
            agent: ServerAgent::new(setup, sequencer),
            job: job.clone(),
            transport,
            keeper: Keeper::new(kept),
            start: Instant::now(),
            watch: Watch::new(),
            patience: PATIENCE,
            stop: None,
            status: StatusPublisher::default(),
            failed: None,
        };
        let (number, terms) = (new_training(), job.terms(&[])?);
        Ok(host.with_training(number, terms))
    }

    /// Sets which training it is: its number, drawn when the model began ([`new_training`]) and kept with it,
    /// and the terms that workers have to share. A worker that has trained in another one is refused.
    #[must_use]
    pub fn with_training(mut self, number: u64, terms: Terms) -> Self {
        let Job { server, workers, .. } = self.job.clone();
        let training = Training { number, server, workers, agreement: Agreement::new(terms) };
        self.agent = self.agent.with_training(training);
        self
    }

    /// Sets for how long no worker may be connected before the server ends; 600 s unless told.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Ends the training when this signal is received: workers receive that reason.
    #[must_use]
    pub fn with_stop(mut self, stop: StopSignal) -> Self {
        self.stop = Some(stop);
        self
    }

    /// Publishes through this socket what the server does.
    #[must_use]
    pub fn with_status(mut self, socket: StatusSocket<AnyStatus>) -> Self {
        self.status.set(socket);
        self
    }

    fn publish(&mut self) {
        if self.status.is_due() {
            let (now, transport) = (self.start.elapsed(), &self.transport);
            let trouble = |worker| transport.trouble(worker);
            self.status.take(self.watch.status(&self.job.server, &self.agent, now, trouble));
        }
    }

    /// Serves workers until the training is over; calls `told` for what happens. What was dropped by the
    /// agent and by the connections, and what decided the order.
    ///
    /// # Errors
    /// A version that cannot be kept; an interface that cannot be used any more; a model that becomes
    /// infinite; no worker for too long. Workers that are connected have heard why.
    pub async fn run(
        mut self,
        mut told: impl FnMut(Told),
    ) -> Result<(ServerCounters, Connections, S), HostError>
    where
        S: Clone,
    {
        // From the start on: a life that follows is of this training, whatever this one comes to.
        if self.keeper.is_there() {
            let training = self.training();
            self.keeper.write(training, &mut self.transport).await?;
        }
        let mut closing: Option<Instant> = None;
        let mut look_at = next_look(self.start, self.agent.wake_at());
        loop {
            match self.next(look_at).await? {
                Next::Event(event) => self.event(event),
                Next::Due => {
                    self.agent.tick(self.start.elapsed());
                    look_at = next_look(self.start, None);
                }
                Next::Closed => break,
            }
            self.look();
            self.carry_out(&mut told).await?;
            self.publish();
            if let Some((_, since)) = &self.failed {
                if self.agent.has_told() || since.elapsed() > LONGEST_END {
                    break;
                }
            } else if self.agent.is_closing() {
                let since = *closing.get_or_insert_with(Instant::now);
                if self.agent.is_over() || since.elapsed() > LONGEST_END && self.agent.is_idle() {
                    break;
                }
            }
            look_at = look_at.min(next_look(self.start, self.agent.wake_at()));
        }
        let connections = self.transport.close().await;
        match self.failed {
            Some((error, _)) => Err(error),
            None => Ok((self.agent.counters(), connections, self.agent.sequencer().clone())),
        }
    }

    /// What happened while a version was written comes first.
    async fn next(&mut self, look_at: Instant) -> Result<Next, HostError> {
        match self.keeper.next_event() {
            Some(event) => Ok(Next::Event(event)),
            None if self.keeper.is_closed() => Ok(Next::Closed),
            None => self.transport.next(look_at).await,
        }
    }

    fn name(&self, peer: usize) -> &str {
        self.job.workers.get(peer).map_or("", String::as_str)
    }

    fn event(&mut self, event: Event) {
        let now = self.start.elapsed();
        let who = |peer: usize| WorkerNo(peer as u32);
        match event {
            Event::Up { peer } => {
                tracing::info!("{} is connected", self.name(peer));
                self.agent.up(who(peer), now);
            }
            Event::Down { peer, reason } => {
                if names_another_process(&reason) {
                    return self.fail(HostError::Duplicate { name: self.job.server.clone(), reason });
                }
                match (is_regular_end(&reason), self.agent.is_closing()) {
                    (true, true) => tracing::info!("{} has ended", self.name(peer)),
                    (true, false) => {
                        tracing::warn!("{} has stopped before the training is over", self.name(peer));
                        return self.agent.left(who(peer), now);
                    }
                    (false, _) => {
                        tracing::warn!("the connection to {} has ended: {reason}", self.name(peer));
                    }
                }
                self.agent.down(who(peer), now);
            }
            Event::Received { peer, data } => self.agent.received(who(peer), &data, now),
            Event::Ended { id, is_taken } => self.agent.ended(id, is_taken, now),
        }
    }

    /// Says for whom it waits; ends after its patience, or on a signal.
    fn look(&mut self) {
        if self.failed.is_some() {
            return;
        }
        if self.stop.as_mut().is_some_and(|stop| stop.is_received().unwrap_or_default()) {
            let name = self.job.server.clone();
            return self.fail(HostError::Stopped { name });
        }
        let alone = self.watch.alone(&self.agent);
        if alone >= self.patience && !self.agent.is_closing() {
            let Job { name: job, workers, .. } = &self.job;
            let (job, workers) = (job.clone(), workers.join(", "));
            return self.fail(HostError::NoWorkers { job, seconds: alone.as_secs_f64(), workers });
        }
        let (now, transport) = (self.start.elapsed(), &self.transport);
        if let Some(waits) = self.watch.due(&self.agent, now, |worker| transport.trouble(worker)) {
            tracing::warn!("waiting: {waits}");
            self.agent.say_waiting(&waits);
        }
    }

    fn fail(&mut self, error: HostError) {
        self.agent.stop(&error.to_string());
        self.failed.get_or_insert((error, Instant::now()));
    }

    /// Versions that were applied together are told once the last of them is kept: whoever reads of a version
    /// may count on it. Nothing is sent before that either, as the agent says what is to be sent last.
    async fn carry_out(&mut self, told: &mut impl FnMut(Told)) -> Result<(), HostError> {
        let mut untold = Vec::new();
        while let Some(output) = self.agent.next_output(self.start.elapsed()) {
            match output {
                ServerOutput::Send { to, id, data, priority } => {
                    untold.drain(..).for_each(&mut *told);
                    if !self.transport.send(to.index(), id, data, priority) {
                        self.agent.ended(id, false, self.start.elapsed());
                    }
                }
                ServerOutput::Applied(applied) => {
                    self.watch.progress();
                    let is_last = self.agent.sequencer().version() == applied.version;
                    if self.keeper.is_there() && is_last {
                        let training = self.training();
                        self.keeper.write(training, &mut self.transport).await?;
                    }
                    let model = is_last.then(|| self.agent.model());
                    untold.push(Told::Applied { applied, model });
                }
                ServerOutput::Overflow { version, overflow } => {
                    let worker = self.name(overflow.worker.index()).to_owned();
                    self.fail(HostError::Overflow { worker, version, at: overflow.at });
                }
                other => {
                    if let ServerOutput::Joined { .. } | ServerOutput::Pushed { .. } = other {
                        self.watch.progress();
                    }
                    untold.push(Told::Output(other));
                }
            }
        }
        untold.into_iter().for_each(told);
        Ok(())
    }

    fn training(&self) -> KeptTraining {
        let Training { number, agreement, .. } = self.agent.training();
        KeptTraining { number: *number, terms: agreement.all(), kept: self.agent.sequencer().kept() }
    }
}

/// Draws the number of a new training.
pub fn new_training() -> u64 {
    u64::from(draw()) << 32 | u64::from(draw())
}
