//! What a training program runs.

use std::time::Duration;

use inart_connections::{Handle, Names, Stopper, draw, drive};
use inart_host_agent::status::{AnyStatus, StatusPublisher, StatusSocket};
use inart_ps_agent::{Computed, Start, WorkerAgent, WorkerSetup};
use inart_terms::Terms;

use crate::ending::Ending;
use crate::error::HostError;
use crate::job::Job;
use crate::network::Paced;
use crate::options::{HostOptions, WINDOW};
use crate::worker_side::{ThreadEvent, WorkerSide};

/// A training program, as its worker calls it: on the thread that runs the worker, one call at a time.
pub trait Training {
    /// Computes an update from the model: as many values as the model has. The server adds it to its model,
    /// times batch over first batch.
    fn compute(&mut self, start: &Start) -> Vec<f32>;

    /// The update of an iteration has arrived at the server. `refusal`: what is wrong with its values, which
    /// then count nothing. There is nothing to do.
    fn pushed(&mut self, _iteration: u64, _refusal: Option<&str>) {}
}

/// Ends a worker from another thread.
#[derive(Debug, Clone)]
pub struct WorkerStopper(Stopper<Computed>);

impl WorkerStopper {
    /// Ends the worker's connection: the server says that it has stopped, and waits for it no longer.
    pub fn stop(&self) {
        // A worker that is over does not need it.
        let _ = self.0.stop();
    }
}

/// A worker: its network side runs on a thread of its own.
#[derive(Debug)]
pub struct WorkerHost {
    me: String,
    status: StatusPublisher,
    handle: Handle<Computed, ThreadEvent>,
}

impl WorkerHost {
    /// Listens, and begins to connect to the server. `rate_bps`: at what rate it sends its updates, in bit/s;
    /// by QUIC it is that of packets, by frames that of Ethernet frames. `patience`: after so long without a
    /// server it ends.
    ///
    /// # Errors
    /// Nobody of that name; an address or an interface that cannot be had, or certificates; no address of the
    /// server, or one that is no host's.
    pub fn open(
        job: &Job,
        me: &str,
        rate_bps: Option<f64>,
        patience: Duration,
        options: HostOptions,
    ) -> Result<Self, HostError> {
        Self::open_with(job, me, &job.terms(&[])?, (rate_bps, patience), options)
    }

    /// The same with terms of the program's own ([`Job::terms`]), which the server compares with its own and
    /// with those of other workers. `(rate_bps, patience)`: as of [`open`](Self::open).
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with(
        job: &Job,
        me: &str,
        terms: &Terms,
        (rate_bps, patience): (Option<f64>, Duration),
        options: HostOptions,
    ) -> Result<Self, HostError> {
        let place = Some(job.number(me)?);
        let names = Names { me: me.to_owned(), all: vec![job.server.clone()] };
        let runtime = Handle::<Computed, ThreadEvent>::runtime()?;
        let paced = Paced::by(&options, vec![rate_bps]);
        let transport = {
            let _inside = runtime.enter();
            crate::network::open(&names, place, &paced.by_transport, options)?
        };
        let (model, values) = (job.fingerprint(), job.values);
        let rate_bps = paced.by_agent.first().copied().flatten();
        let setup = WorkerSetup { incarnation: draw(), model, values, window: WINDOW, rate_bps, patience };
        let agent = WorkerAgent::new(setup).with_terms(terms.clone());
        let status = StatusPublisher::default();
        let published = status.clone();
        let handle = Handle::start("worker", runtime, move |orders, events| async move {
            let mut side = WorkerSide::new(names.clone(), events.clone(), published);
            let ended = match drive(agent, &names, transport, orders, &mut side).await {
                Ok((agent, connections)) => {
                    // Without a version the program has gone.
                    let Some((version, left_out)) = side.last else { return };
                    Ok(Ending { version, left_out, counters: agent.counters(), connections })
                }
                Err(error) => Err(error),
            };
            let _ = events.send(ThreadEvent::Ended(ended));
        })?;
        Ok(Self { me: me.to_owned(), status, handle })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.me
    }

    /// Publishes through this socket what the worker does.
    pub fn publish(&self, socket: StatusSocket<AnyStatus>) {
        self.status.set(socket);
    }

    /// What ends it from another thread.
    pub fn stopper(&self) -> WorkerStopper {
        WorkerStopper(self.handle.stopper())
    }

    /// Trains until the server says that it is over.
    ///
    /// # Errors
    /// An update of another length than the model; no server for too long; a server of another job; a worker
    /// that was stopped, once its program has computed.
    pub fn run(mut self, training: &mut dyn Training) -> Result<Ending, HostError> {
        loop {
            match self.handle.next(false)? {
                ThreadEvent::Compute(start) => {
                    let update = training.compute(&start);
                    // The training may be over meanwhile, which is the next news.
                    let _ = self.handle.command(Computed { ticket: start.ticket, update });
                }
                ThreadEvent::Pushed { iteration, refusal } => training.pushed(iteration, refusal.as_deref()),
                ThreadEvent::Ended(ended) => {
                    self.handle.join();
                    return ended;
                }
            }
        }
    }
}
