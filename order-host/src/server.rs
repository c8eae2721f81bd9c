//! The server's process.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use inart_order::WorkerNo;
use inart_order_agent::{Applied, Sequencer, ServerAgent, ServerCounters, ServerOutput, ServerSetup};
use inart_quic::{Counters, Endpoint, Event, Events};
use tokio::time::sleep_until;

use crate::error::HostError;
use crate::job::{CHUNK_VALUES, Job};
use crate::kept_file::KeptFile;
use crate::options::{HostOptions, ServerOptions};
use crate::sleep::{draw, next_look};

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
#[derive(Debug)]
pub struct ServerHost<S> {
    agent: ServerAgent<S>,
    names: BTreeMap<String, WorkerNo>,
    workers: Vec<String>,
    endpoint: Endpoint,
    events: Events,
    kept: Option<KeptFile>,
    start: Instant,
}

impl<S: Sequencer> ServerHost<S> {
    /// Listens, and begins to connect to all workers. To be called within a tokio runtime. With a file, each
    /// version is kept in it.
    ///
    /// # Errors
    /// An address that cannot be had, or certificates; a worker whose address is missing; a model of another
    /// length.
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
        if let Some(lacking) = job.workers.iter().find(|worker| !options.peers.contains_key(*worker)) {
            return Err(HostError::NoAddress(lacking.clone()));
        }
        for name in options.peers.keys() {
            job.number(name)?;
        }
        let mut quic = inart_quic::Options::new(options.listen, options.tls, &job.server, options.peers);
        quic.congestion = options.congestion;
        let (endpoint, events) = Endpoint::open(quic)?;
        let setup = ServerSetup {
            life: draw(),
            model: job.fingerprint(),
            chunk_values: CHUNK_VALUES,
            precision: server.precision,
            window: WINDOW,
            rates_bps: server.rates_bps,
            gather: server.gather,
            absence: server.absence,
            iterations: server.iterations,
        };
        let numbers = (0..).map(WorkerNo);
        Ok(ServerHost {
            agent: ServerAgent::new(setup, sequencer),
            names: job.workers.iter().cloned().zip(numbers).collect(),
            workers: job.workers.clone(),
            endpoint,
            events,
            kept,
            start: Instant::now(),
        })
    }

    /// Serves workers until the training is over; calls `told` for what happens. What was dropped by the
    /// agent and by the connections, and what decided the order.
    ///
    /// # Errors
    /// A version that cannot be kept.
    pub async fn run(mut self, mut told: impl FnMut(Told)) -> Result<(ServerCounters, Counters, S), HostError>
    where
        S: Clone,
    {
        let mut closing: Option<Instant> = None;
        loop {
            let wake_at = next_look(self.start, self.agent.wake_at());
            tokio::select! {
                event = self.events.next() => match event {
                    Some(event) => self.event(event),
                    None => break,
                },
                () = sleep_until(wake_at.into()) => self.agent.tick(self.start.elapsed()),
            }
            self.carry_out(&mut told)?;
            if self.agent.is_closing() {
                let since = *closing.get_or_insert_with(Instant::now);
                if self.agent.is_over() || since.elapsed() > LONGEST_END && self.agent.is_idle() {
                    break;
                }
            }
        }
        self.endpoint.close().await;
        Ok((self.agent.counters(), self.endpoint.counters(), self.agent.sequencer().clone()))
    }

    fn event(&mut self, event: Event) {
        let now = self.start.elapsed();
        match event {
            Event::Up { peer } => {
                tracing::info!("{peer} is connected");
                if let Some(&worker) = self.names.get(&peer) {
                    self.agent.up(worker, now);
                }
            }
            Event::Down { peer, reason } => {
                tracing::warn!("the connection to {peer} has ended: {reason}");
                if let Some(&worker) = self.names.get(&peer) {
                    self.agent.down(worker, now);
                }
            }
            Event::Received { peer, data, .. } => {
                if let Some(&worker) = self.names.get(&peer) {
                    self.agent.received(worker, &data, now);
                }
            }
            Event::Acknowledged { id, .. } => self.agent.ended(id, true, now),
            Event::Failed { id, .. } => self.agent.ended(id, false, now),
            Event::Stranger { address, names } => {
                tracing::warn!("{} at {address} is no worker of the job", names.join(" or "));
            }
        }
    }

    /// Versions that were applied together are told once the last of them is kept: whoever reads of a version
    /// may count on it. Nothing is sent before that either, as the agent says what is to be sent last.
    fn carry_out(&mut self, told: &mut impl FnMut(Told)) -> Result<(), HostError> {
        let mut untold = Vec::new();
        while let Some(output) = self.agent.next_output(self.start.elapsed()) {
            match output {
                ServerOutput::Send { to, id, data, priority } => {
                    untold.drain(..).for_each(&mut *told);
                    let Some(name) = self.workers.get(to.index()) else { continue };
                    if let Err(error) = self.endpoint.send(name, id, data, priority) {
                        tracing::error!("a packet was not sent: {error}");
                        self.agent.ended(id, false, self.start.elapsed());
                    }
                }
                ServerOutput::Applied(applied) => {
                    let is_last = self.agent.sequencer().version() == applied.version;
                    if let Some(kept) = self.kept.as_ref().filter(|_| is_last) {
                        kept.write(&self.agent.sequencer().kept())?;
                    }
                    let model = is_last.then(|| self.agent.model());
                    untold.push(Told::Applied { applied, model });
                }
                other => untold.push(Told::Output(other)),
            }
        }
        untold.into_iter().for_each(told);
        Ok(())
    }
}
