//! The worker that a training program runs.

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
    /// Computes an update from the model: as many values as the model has. The server adds the update, scaled
    /// by batch over first batch, to its model.
    fn compute(&mut self, start: &Start) -> Vec<f32>;

    /// Takes note that the update of an iteration has arrived at the server. `refusal`: defect of its values,
    /// which then count nothing. The default does nothing.
    fn pushed(&mut self, _iteration: u64, _refusal: Option<&str>) {}
}

/// Ends a worker from another thread.
#[derive(Debug, Clone)]
pub struct WorkerStopper(Stopper<Computed>);

impl WorkerStopper {
    /// Closes the worker's connection: the server logs that it has stopped, and does not wait for it.
    pub fn stop(&self) {
        // A worker that has ended need not stop.
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
    /// Listens, and starts to connect to the server. `rate_bps`: rate at which it sends its updates, in
    /// bit/s; of packets with QUIC, of Ethernet frames with frames. `patience`: time without a server after
    /// which the worker ends.
    ///
    /// # Errors
    /// The name is unknown; an address or an interface is not available, or certificates are invalid; the
    /// server's address is missing or invalid.
    pub fn open(
        job: &Job,
        me: &str,
        rate_bps: Option<f64>,
        patience: Duration,
        options: HostOptions,
    ) -> Result<Self, HostError> {
        Self::open_with(job, me, &job.terms(&[])?, (rate_bps, patience), options)
    }

    /// Opens a worker with settings of the program's own ([`Job::terms`]), which the server compares with its
    /// own and with those of other workers. `(rate_bps, patience)`: as for [`open`](Self::open).
    ///
    /// # Errors
    /// As for [`open`](Self::open).
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
                    // Without a version the program has ended.
                    let Some((version, left_out)) = side.last else { return };
                    Ok(Ending { version, left_out, counters: agent.counters(), connections })
                }
                Err(error) => Err(error),
            };
            let _ = events.send(ThreadEvent::Ended(ended));
        })?;
        Ok(Self { me: me.to_owned(), status, handle })
    }

    /// Returns the worker's name.
    pub fn name(&self) -> &str {
        &self.me
    }

    /// Publishes the worker's status through this socket.
    pub fn publish(&self, socket: StatusSocket<AnyStatus>) {
        self.status.set(socket);
    }

    /// Returns a handle that ends the worker from another thread.
    pub fn stopper(&self) -> WorkerStopper {
        WorkerStopper(self.handle.stopper())
    }

    /// Trains until the server ends the training.
    ///
    /// # Errors
    /// An update's length is not the model's; no server for too long; the server has another job; the worker
    /// was stopped, once its program has computed.
    pub fn run(mut self, training: &mut dyn Training) -> Result<Ending, HostError> {
        loop {
            match self.handle.next(false)? {
                ThreadEvent::Compute(start) => {
                    let update = training.compute(&start);
                    // The training may be over meanwhile, which is the next event.
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
