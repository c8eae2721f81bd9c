//! What a training program runs.

use std::sync::mpsc::{self, Receiver};
use std::thread::JoinHandle;
use std::time::Duration;

use inart_host_agent::status::{AnyStatus, StatusSocket};
use inart_order_agent::{Start, WorkerAgent, WorkerSetup};
use inart_terms::Terms;
use tokio::sync::mpsc::UnboundedSender;

use crate::ending::Ending;
use crate::error::HostError;
use crate::job::Job;
use crate::options::HostOptions;
use crate::server::WINDOW;
use crate::sleep::draw;
use crate::transport::{Paced, Seat, Transport};
use crate::worker_loop::{Command, News, WorkerLoop};

/// Whether the network thread is there is looked at this often.
const LOOK: Duration = Duration::from_millis(500);

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
pub struct WorkerStopper(Option<UnboundedSender<Command>>);

impl WorkerStopper {
    /// Ends the worker's connection: the server says that it has stopped, and waits for it no longer.
    pub fn stop(&self) {
        // A worker that is over does not need it.
        let _ = self.0.as_ref().map(|commands| commands.send(Command::Stop));
    }
}

/// A worker: its network side runs on a thread of its own.
#[derive(Debug)]
pub struct WorkerHost {
    me: String,
    /// None once it is dropped, so that the thread ends.
    commands: Option<UnboundedSender<Command>>,
    news: Receiver<News>,
    thread: Option<JoinHandle<()>>,
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
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(HostError::Runtime)?;
        let paced = Paced::by(&options, vec![rate_bps]);
        let transport = {
            let _inside = runtime.enter();
            let server = std::slice::from_ref(&job.server);
            Transport::open(Seat { name: me, place }, server, &paced.by_transport, options)?
        };
        let (model, values) = (job.fingerprint(), job.values);
        let rate_bps = paced.by_agent.first().copied().flatten();
        let setup = WorkerSetup { life: draw(), model, values, window: WINDOW, rate_bps, patience };
        let agent = WorkerAgent::new(setup).with_terms(terms.clone());
        let (commands, taken) = tokio::sync::mpsc::unbounded_channel();
        let (told, news) = mpsc::channel();
        let network = WorkerLoop::new(me.to_owned(), job.server.clone(), agent, transport, told);
        let run = move || runtime.block_on(network.run(taken));
        let thread = std::thread::Builder::new().name("worker".into()).spawn(run);
        let thread = Some(thread.map_err(HostError::Runtime)?);
        Ok(Self { me: me.to_owned(), commands: Some(commands), news, thread })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.me
    }

    /// Publishes through this socket what the worker does.
    pub fn publish(&self, socket: StatusSocket<AnyStatus>) {
        // A worker that has ended does nothing.
        let _ = self.commands.as_ref().map(|commands| commands.send(Command::Status(socket)));
    }

    /// What ends it from another thread.
    pub fn stopper(&self) -> WorkerStopper {
        WorkerStopper(self.commands.clone())
    }

    /// Trains until the server says that it is over.
    ///
    /// # Errors
    /// An update of another length than the model; no server for too long; a server of another job; a worker
    /// that was stopped, once its program has computed.
    pub fn run(mut self, training: &mut dyn Training) -> Result<Ending, HostError> {
        loop {
            match self.next_news()? {
                News::Compute(start) => {
                    let update = training.compute(&start);
                    let commands = self.commands.as_ref().ok_or(HostError::Gone)?;
                    let computed = Command::Computed { ticket: start.ticket, update };
                    // The training may be over meanwhile, which is the next news.
                    let _ = commands.send(computed);
                }
                News::Pushed { iteration, refusal } => training.pushed(iteration, refusal.as_deref()),
                News::Failed(error) => return Err(error),
                News::Over(ending) => {
                    if let Some(thread) = self.thread.take() {
                        let _ = thread.join(); // a panic there has been printed already
                    }
                    return Ok(ending);
                }
            }
        }
    }

    fn next_news(&self) -> Result<News, HostError> {
        loop {
            match self.news.recv_timeout(LOOK) {
                Ok(news) => return Ok(news),
                Err(_) if self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) => {}
                // What it told last may have come since.
                Err(_) => return self.news.try_recv().map_err(|_| HostError::Gone),
            }
        }
    }
}

impl Drop for WorkerHost {
    /// The server sees that the connection ends.
    fn drop(&mut self) {
        self.commands = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // a panic there has been printed already
        }
    }
}
