//! The server's process.

use std::sync::Arc;
use std::time::{Duration, Instant};

use inart_order::WorkerNo;
use inart_order_agent::{Applied, Sequencer, ServerAgent, ServerCounters, ServerOutput, ServerSetup};

use crate::connections::Connections;
use crate::error::HostError;
use crate::job::{CHUNK_VALUES, Job};
use crate::kept_file::KeptFile;
use crate::options::{HostOptions, ServerOptions};
use crate::sleep::{draw, next_look};
use crate::transport::{Event, Next, Paced, Seat, Transport};

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
    workers: Vec<String>,
    transport: Transport,
    kept: Option<KeptFile>,
    start: Instant,
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
        Ok(ServerHost {
            agent: ServerAgent::new(setup, sequencer),
            workers: job.workers.clone(),
            transport,
            kept,
            start: Instant::now(),
        })
    }

    /// Serves workers until the training is over; calls `told` for what happens. What was dropped by the
    /// agent and by the connections, and what decided the order.
    ///
    /// # Errors
    /// A version that cannot be kept; an interface that cannot be used any more.
    pub async fn run(
        mut self,
        mut told: impl FnMut(Told),
    ) -> Result<(ServerCounters, Connections, S), HostError>
    where
        S: Clone,
    {
        let mut closing: Option<Instant> = None;
        let mut look_at = next_look(self.start, self.agent.wake_at());
        loop {
            match self.transport.next(look_at).await? {
                Next::Event(event) => self.event(event),
                Next::Due => {
                    self.agent.tick(self.start.elapsed());
                    look_at = next_look(self.start, None);
                }
                Next::Closed => break,
            }
            self.carry_out(&mut told)?;
            if self.agent.is_closing() {
                let since = *closing.get_or_insert_with(Instant::now);
                if self.agent.is_over() || since.elapsed() > LONGEST_END && self.agent.is_idle() {
                    break;
                }
            }
            look_at = look_at.min(next_look(self.start, self.agent.wake_at()));
        }
        let connections = self.transport.close().await;
        Ok((self.agent.counters(), connections, self.agent.sequencer().clone()))
    }

    fn event(&mut self, event: Event) {
        let now = self.start.elapsed();
        let who = |peer: usize| WorkerNo(peer as u32);
        let name = |peer: usize| self.workers.get(peer).map_or("", String::as_str);
        match event {
            Event::Up { peer } => {
                tracing::info!("{} is connected", name(peer));
                self.agent.up(who(peer), now);
            }
            Event::Down { peer, reason } => {
                tracing::warn!("the connection to {} has ended: {reason}", name(peer));
                self.agent.down(who(peer), now);
            }
            Event::Received { peer, data } => self.agent.received(who(peer), &data, now),
            Event::Ended { id, is_taken } => self.agent.ended(id, is_taken, now),
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
                    if !self.transport.send(to.index(), id, data, priority) {
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
